"""Live updates under load: what every subscriber got, and when."""
