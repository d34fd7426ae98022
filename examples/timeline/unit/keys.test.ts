import assert from "node:assert/strict"
import { test } from "node:test"

import { intentOf } from "../src/lib/keys.ts"

const press = (key: string, ...modifiers: ("shift" | "alt" | "ctrl" | "meta")[]) =>
  intentOf({
    key,
    shiftKey: modifiers.includes("shift"),
    altKey: modifiers.includes("alt"),
    ctrlKey: modifiers.includes("ctrl"),
    metaKey: modifiers.includes("meta"),
  })

test("every key that the page's help lists does what it says", () => {
  assert.deepEqual(press("ArrowUp"), { kind: "focus", step: -1 })
  assert.deepEqual(press("ArrowDown"), { kind: "focus", step: 1 })
  assert.deepEqual(press("ArrowLeft"), { kind: "shift", days: -1 })
  assert.deepEqual(press("ArrowRight"), { kind: "shift", days: 1 })
  assert.deepEqual(press("ArrowLeft", "shift"), { kind: "resize", days: -1 })
  assert.deepEqual(press("ArrowRight", "shift"), { kind: "resize", days: 1 })
  assert.deepEqual(press("ArrowUp", "alt"), { kind: "row", step: -1 })
  assert.deepEqual(press("ArrowDown", "alt"), { kind: "row", step: 1 })
  assert.deepEqual(press("Enter"), { kind: "open" })
  assert.deepEqual(press("Delete"), { kind: "delete" })
})

test("the browser's own keys stay the browser's", () => {
  for (const modifier of ["ctrl", "meta"] as const) assert.equal(press("ArrowLeft", modifier), null)
  assert.equal(press("ArrowLeft", "alt"), null)
  assert.equal(press("Tab"), null)
  assert.equal(press("a"), null)
  assert.equal(press("Delete", "shift"), null)
})
