/**
 * The keyboard's way through the bars: one of them can be reached by Tab (a roving tabindex, as the ARIA
 * Authoring Practices have it), arrows go on from there. The chart makes, moves and drops elements as it
 * likes, so this is done over after each of its redraws.
 */

export class Focus {
  /** The bar that Tab leads to. */
  private active: string | null = null
  /** What the keyboard is on, as a selector: a bar, or the name of a row. Its element may go away. */
  private held: string | null = null
  /** Whether that is still to be drawn, and the keyboard on something else meanwhile. */
  private isAwaited = false
  private root: HTMLElement

  constructor(root: HTMLElement) {
    this.root = root
    root.addEventListener("focusin", ({ target }) => {
      this.held = selectorOf(target)
      this.isAwaited = false
      const id = idOf(target)
      if (!id) return
      this.active = id
      this.rove()
    })
    root.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget) this.held = null
    })
    root.addEventListener("pointerdown", ({ target }) => {
      if (!selectorOf(target)) this.held = null
    })
  }

  /** Takes the keyboard to the bar, now or as soon as it is drawn. */
  take(id: string): void {
    this.active = id
    this.await(barSelector(id))
    this.rove()
  }

  /** Takes the keyboard to the name of the person's row. */
  takeName(person: string): void {
    this.await(nameSelector(person))
  }

  /** Describes the bars that are drawn, and gives the keyboard back to what it was on. */
  describe(labels: ReadonlyMap<string, string>): void {
    for (const element of this.elements()) {
      const label = labels.get(idOf(element) ?? "") ?? ""
      if (element.getAttribute("aria-label") === label) continue
      element.setAttribute("role", "button")
      element.setAttribute("aria-label", label)
      element.title = label
    }
    this.rove()
    if (this.isAwaited || document.activeElement === document.body) this.restore()
  }

  private await(selector: string): void {
    this.held = selector
    this.isAwaited = true
    this.restore()
  }

  private restore(): void {
    if (this.held) this.root.querySelector<HTMLElement>(this.held)?.focus({ preventScroll: true })
  }

  private rove(): void {
    const elements = this.elements()
    const chosen = elements.find((each) => idOf(each) === this.active) ?? elements[0]
    for (const each of elements) each.tabIndex = each === chosen ? 0 : -1
  }

  private elements(): HTMLElement[] {
    return [...this.root.querySelectorAll<HTMLElement>(".vis-item.bar")]
  }
}

const barSelector = (id: string): string => `.vis-item.bar[data-id="${CSS.escape(id)}"]`

const nameSelector = (person: string): string => `[data-person="${CSS.escape(person)}"]`

function selectorOf(target: EventTarget | null): string | null {
  const id = idOf(target)
  if (id) return barSelector(id)
  const name = target instanceof Element ? target.closest<HTMLElement>("[data-person]") : null
  return name && nameSelector(name.dataset["person"] ?? "")
}

/** The id of the bar that the element is, or is in. */
export function idOf(target: EventTarget | null): string | null {
  const bar = target instanceof Element ? target.closest<HTMLElement>(".vis-item.bar") : null
  return bar?.dataset["id"] ?? null
}
