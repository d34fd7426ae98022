import { mount } from "svelte"

import "./app.css"
import { createClient } from "./data/client.ts"
import App from "./ui/App.svelte"

mount(App, { target: document.getElementById("app")!, props: { client: createClient() } })
