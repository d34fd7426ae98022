import assert from "node:assert/strict"
import { test } from "node:test"

import { contrast, luminance, textOn } from "../src/lib/contrast.ts"

test("luminance and contrast are those of WCAG", () => {
  assert.equal(luminance("#000000"), 0)
  assert.equal(luminance("#ffffff"), 1)
  assert.equal(contrast("#ffffff", "#000000"), 21)
  assert.ok(Math.abs(contrast("#777777", "#ffffff") - 4.48) < 0.01)
})

test("on any colour there is enough contrast to read by", () => {
  for (let red = 0; red < 256; red += 15)
    for (let green = 0; green < 256; green += 15)
      for (let blue = 0; blue < 256; blue += 15) {
        const color = `#${[red, green, blue].map((each) => each.toString(16).padStart(2, "0")).join("")}`
        assert.ok(contrast(color, textOn(color)) >= 4.5, color)
      }
})

test("dark colours take white, light ones black", () => {
  assert.equal(textOn("#1F77B4"), "#ffffff")
  assert.equal(textOn("#ff7f0e"), "#000000")
  assert.equal(textOn("#ffd700"), "#000000")
  assert.equal(textOn("#0b1f3a"), "#ffffff")
})
