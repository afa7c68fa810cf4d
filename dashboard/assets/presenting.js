// Keys of a talk, and which of a page's screens is seen, how large. The page is drawn once by the
// server; a step from one figure to the next asks nobody.
const SLIDES = '[data-testid="stMain"] [class*="st-key-slide-"]';
const FIGURE = '[data-testid="stPlotlyChart"], .st-key-results_table [data-testid^="stBidiComponent"]';
const NARROWEST = 760; // pixels that a figure is laid out for at least, as in reports
const WIDE = 960; // and a table, or a figure that scrolls
const LARGEST = 2.2;
const OWN_ARROWS = '[role="radiogroup"], [role="slider"], [role="tablist"], [role="listbox"], [role="menu"], [role="grid"], canvas';
const FIELDS = 'input:not([type="checkbox"]):not([type="radio"]):not([type="button"]), textarea, select, [role="textbox"], [role="combobox"]';

export default function ({ data, setTriggerValue, parentElement }) {
  const root = document.documentElement;
  // what outlives a run of the page: on which side a step is entered, and what was asked for
  const talk = (window.mucorePresenting ??= { enter: "", asked: 0, step: "", heights: new WeakMap() });
  talk.stop?.(); // Streamlit calls this again for new data without ending the call before
  const slides = () => [...document.querySelectorAll(SLIDES)].filter((each) => !each.closest("details, .st-key-run_drawer") && !each.parentElement.closest(SLIDES));

  const number = () => Number(new URLSearchParams(location.search).get("figure")) || 1;
  const place = (all) => Math.min(Math.max(number(), 1), Math.max(all.length, 1)) - 1;
  const write = (at) => {
    const address = new URL(location.href);
    if (at) address.searchParams.set("figure", at + 1);
    else address.searchParams.delete("figure");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  };

  // --- what is seen
  const fit = (slide) => {
    const found = slide.querySelectorAll(FIGURE);
    if (found.length !== 1) return;
    const figure = found[0].closest('[data-testid="stElementContainer"]') ?? found[0];
    const drawn = found[0].dataset.testid === "stPlotlyChart";
    figure.dataset.figure = drawn ? "drawn" : "written";
    // the height of a chart is fixed by the server, that of a table by its width
    const height = drawn ? (talk.heights.get(figure) ?? figure.offsetHeight) : figure.offsetHeight;
    if (!height) return;
    if (drawn) talk.heights.set(figure, height);
    const around = [...slide.querySelectorAll('[data-testid="stElementContainer"]')]
      .filter((each) => each !== figure && !each.closest('[class*="st-key-notes-"]'))
      .reduce((sum, each) => sum + each.offsetHeight + 8, 12);
    const width = slide.clientWidth - 64;
    const fits = (slide.clientHeight - around) / height;
    const scale = Math.max(1, fits < 1 ? Math.min(width / WIDE, 1.9) : Math.min(fits, width / NARROWEST, LARGEST));
    slide.style.setProperty("--present-scale", scale.toFixed(3));
    slide.style.setProperty("--present-height", `${height}px`);
    slide.style.setProperty("--present-room", `${Math.round(height * (scale - 1))}px`);
  };
  const draw = () => {
    if (!data.on) return;
    const all = slides();
    if (talk.enter === "after" && all.length > talk.count) write(talk.count);
    if (talk.enter === "after" && all.length > talk.count) talk.enter = "";
    if (talk.enter === "last") write(all.length - 1);
    const at = place(all);
    const ground = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
    root.style.setProperty("--present-ground", ground);
    root.dataset.presenting = all.length ? "figures" : "whole";
    const head = document.querySelector(".st-key-present_head");
    if (head) root.style.setProperty("--present-top", `${Math.ceil(head.getBoundingClientRect().height) + 8}px`);
    all.forEach((each, index) => {
      if (each.hasAttribute("data-on") !== (index === at)) each.toggleAttribute("data-on", index === at);
    });
    if (all.length) fit(all[at]);
    foot(all.length, at);
  };
  const foot = (count, at) => {
    let bar = document.querySelector(".mucore-foot");
    if (!bar) {
      bar = document.createElement("div");
      bar.className = "mucore-foot";
      bar.setAttribute("role", "toolbar");
      bar.setAttribute("aria-label", "Presenting");
      document.querySelector('[data-testid="stApp"]').append(bar);
    }
    const title = (side) => document.querySelector(`.st-key-present_${side} a`)?.textContent.trim() ?? "";
    const where = [count > 1 ? `${at + 1} of ${count}` : "", data.steps > 1 ? `step ${data.step} of ${data.steps}` : ""];
    const parts = [
      ["before", title("before"), "page", "The page before (Shift and ←)"],
      ["back", "←", "", "Back"],
      ["", where.filter(Boolean).join(", "), "", ""],
      ["next", "→", "", "Next"],
      ["behind", title("behind"), "page", "The next page (Shift and →)"],
      ["leave", "Esc", "", "Leave the presentation"],
    ].filter((part) => part[1]);
    const said = JSON.stringify(parts);
    if (bar.dataset.said === said) return;
    bar.dataset.said = said;
    bar.replaceChildren(
      ...parts.map(([what, text, kind, help]) => {
        const made = document.createElement(what ? "button" : "span");
        made.textContent = text;
        made.className = kind;
        if (!what) made.setAttribute("aria-live", "polite");
        if (what) Object.assign(made, { type: "button", title: help, ariaLabel: help, onclick: () => act(what) });
        return made;
      }),
    );
  };

  // --- what a key does
  const move = (by) => {
    const all = slides();
    const at = place(all);
    const reveal = by > 0 && all[at]?.querySelector('[class*="st-key-"][class*="reveal"] button:not(:disabled)');
    talk.enter = "";
    if (reveal) {
      talk.enter = "after";
      talk.count = all.length;
      reveal.click();
    } else if (at + by >= 0 && at + by < all.length) {
      write(at + by);
      draw();
      all[at + by].scrollTop = 0;
    } else if (data.step + by >= 1 && data.step + by <= data.steps && Date.now() - talk.asked > 1500) {
      talk.asked = Date.now();
      talk.enter = by < 0 ? "last" : "first";
      setTriggerValue("move", by);
    }
  };
  const act = (what) => {
    if (what === "next" || what === "back") move(what === "next" ? 1 : -1);
    else if (what === "leave") setTriggerValue("present", false);
    else document.querySelector(`.st-key-present_${what} a`)?.click();
  };
  const press = (event) => {
    const from = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (from.isContentEditable || from.matches?.(FIELDS)) return;
    if (event.key === "p" || event.key === "P") {
      setTriggerValue("present", !data.on);
      return;
    }
    if (!data.on) return;
    const busy = '.st-key-run_drawer:not(.closing), [data-baseweb="popover"], [role="dialog"][aria-modal="true"]';
    const arrow = event.key.startsWith("Arrow");
    if (arrow && from.closest?.(OWN_ARROWS)) return;
    if (event.key === "Escape") {
      if (!document.querySelector(busy)) act("leave");
    } else if (event.key === "n" || event.key === "N") {
      document.querySelector('[data-on] [class*="st-key-notes-"] summary')?.click();
    } else if (["ArrowRight", "PageDown", "ArrowLeft", "PageUp"].includes(event.key)) {
      const on = event.key === "ArrowRight" || event.key === "PageDown";
      if (event.shiftKey) act(on ? "behind" : "before");
      else if (arrow || root.dataset.presenting === "figures") move(on ? 1 : -1);
      else return; // a page without figures scrolls
      event.preventDefault();
    } else if (["ArrowDown", "ArrowUp"].includes(event.key)) {
      document.querySelector("[data-on]")?.scrollBy({ top: event.key === "ArrowDown" ? 120 : -120 });
    }
  };

  // --- a page that has just been drawn
  const step = `${data.page} ${data.step}`;
  if (data.on && talk.step !== step) {
    if (talk.step && talk.enter !== "last") write(0);
    talk.asked = 0;
  }
  talk.step = data.on ? step : "";
  let planned = 0;
  const soon = () => {
    if (!planned) planned = requestAnimationFrame(() => { planned = 0; draw(); });
  };
  const watch = new MutationObserver(soon);
  const button = parentElement.querySelector("button");
  const start = () => setTriggerValue("present", true);
  button?.addEventListener("click", start);
  document.addEventListener("keydown", press);
  if (data.on) {
    watch.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, subtree: true });
    window.addEventListener("resize", soon);
    draw();
  }
  return (talk.stop = () => {
    button?.removeEventListener("click", start);
    document.removeEventListener("keydown", press);
    window.removeEventListener("resize", soon);
    watch.disconnect();
    cancelAnimationFrame(planned);
    document.querySelector(".mucore-foot")?.remove();
    delete root.dataset.presenting;
  });
}
