// Keys of a talk, and which of a page's screens is seen, how large. The page is drawn once by the
// server; a step from one figure to the next asks nobody.
const SLIDES = '[data-testid="stMain"] [class*="st-key-slide-"]';
// what is shown large: charts, elements that are as high as they are wide, and scenes that take the height they are given
const DRAWN = '[data-testid="stPlotlyChart"]';
const WRITTEN = '.st-key-results_table [data-testid^="stBidiComponent"], .st-key-drawing [data-testid^="stBidiComponent"]';
const GRID = '[data-testid="stDataFrame"]'; // is as high as it has rows
const STAGED = '[class*="st-key-playground"] [data-testid^="stBidiComponent"]';
const NARROWEST = 760; // pixels that a chart is laid out for at least, as in reports
const WIDTHS = [640, 700, 760, 820, 880, 960]; // and an element, whose first width without a scroll bar is taken
const LARGEST = 2.2;
const TYPES = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6]; // of the size that words should have
// of a lesson before a room: what begins it, and how many are there
const HOLD = ".st-key-hold button:not(:disabled)";
const JOINS = ".st-key-room_joins a"; // to the room's address, and from there back to where it was opened
const HERE = ".st-key-room_count strong";
const REVEAL = '[class*="st-key-"][class*="reveal"] button:not(:disabled)'; // shows the answer to a question
// after its press the button stays until the page is drawn; then a question is unanswered no more
const UNANSWERED = REVEAL.replace('[class*="reveal"]', '[class*="reveal"]:not([data-stale="true"])');
const NO_VOTES = '[class*="st-key-no_votes"]'; // nothing to show yet: a press on a clicker asks for a second one
const ON_ITS_WAY = 10000; // milliseconds in which a step should have come, before a press asks again
const OWN_ARROWS = '[role="radiogroup"], [role="slider"], [role="tablist"], [role="listbox"], [role="menu"], [role="grid"], canvas';
const FIELDS = 'input:not([type="checkbox"]):not([type="radio"]):not([type="button"]), textarea, select, [role="textbox"], [role="combobox"]';

export default function ({ data, setTriggerValue, parentElement }) {
  const root = document.documentElement;
  // what outlives a run of the page: on which side a step is entered, and what was asked for
  const here = () => Number(new URLSearchParams(location.search).get("figure")) || 1;
  const talk = (window.mucorePresenting ??= { enter: "", asked: 0, step: "", figure: here(), heights: new WeakMap() });
  talk.stop?.(); // Streamlit calls this again for new data without ending the call before
  const slides = () => [...document.querySelectorAll(SLIDES)].filter((each) => !each.closest("details, .st-key-run_drawer") && !each.parentElement.closest(SLIDES));

  const place = (all) => Math.min(Math.max(talk.figure, 1), Math.max(all.length, 1)) - 1;
  // a run of the page takes out of the address what Streamlit did not write there
  const say = () => {
    const address = new URL(location.href);
    if (talk.figure > 1) address.searchParams.set("figure", talk.figure);
    else address.searchParams.delete("figure");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  };
  const write = (at) => {
    talk.figure = at + 1;
    say();
  };

  // --- what is seen
  let resized; // watches the figure that is seen
  const height = (slide) => slide.clientHeight;
  const over = (slide) => slide.scrollHeight - height(slide);
  const set = (slide, name, value) => slide.style.setProperty(`--present-${name}`, value);

  // Show one figure as large as the words around it leave room for, by at least `least` times.
  const enlarge = (slide, found, least) => {
    const kind = found.matches(DRAWN) ? "drawn" : found.matches(STAGED) ? "staged" : found.matches(GRID) ? "grid" : "written";
    const figure = found.closest('[data-testid="stElementContainer"]') ?? found;
    figure.dataset.figure = kind;
    const around = [...slide.querySelectorAll('[data-testid="stElementContainer"]')]
      .filter((each) => each !== figure && !each.closest('[class*="st-key-notes-"]'))
      .reduce((sum, each) => sum + each.offsetHeight + 8, 12);
    let left = height(slide) - around;
    if (kind === "staged") {
      set(slide, "left", `${left}px`);
      if (over(slide) > 0) set(slide, "left", `${left - over(slide)}px`);
      return;
    }
    const width = slide.clientWidth - 64;
    let full; // how high the figure is where it is not enlarged
    let scale = LARGEST;
    const resize = () => {
      set(slide, "scale", scale.toFixed(3));
      set(slide, "height", `${full}px`);
      set(slide, "room", `${Math.round(full * (scale - 1))}px`);
    };
    if (kind === "drawn") {
      // the height of a chart is fixed by the server, that of an element by its width
      full = talk.heights.get(figure) ?? figure.offsetHeight;
      if (!full) return;
      talk.heights.set(figure, full);
      scale = Math.min(scale, width / NARROWEST);
    } else {
      for (const wide of kind === "grid" ? WIDTHS.slice(-1) : WIDTHS) {
        scale = Math.min(width / wide, LARGEST);
        full = figure.offsetHeight;
        resize();
        full = figure.offsetHeight;
        if (!wider(found)) break;
      }
    }
    for (const _ of [1, 2]) {
      scale = Math.max(Math.min(scale, left / full), least);
      resize();
      if (over(slide) <= 0) return;
      left -= over(slide);
    }
  };
  const inside = (found) => [found, ...found.querySelectorAll("*")].map((each) => each.shadowRoot).find(Boolean) ?? found;
  // whether an element has a scroll bar below
  const wider = (found) => [...inside(found).querySelectorAll(".frame, .board")].some((each) => each.scrollWidth > each.clientWidth + 1);
  const fit = (slide) => {
    const found = slide.querySelectorAll(`${DRAWN}, ${WRITTEN}, ${GRID}, ${STAGED}`);
    // a scene and a table are drawn later than the element that they stand in
    if (found.length === 1) resized.observe(found[0]);
    for (const type of TYPES) {
      set(slide, "type", type);
      if (found.length === 1) enlarge(slide, found[0], type === TYPES.at(-1) ? 0.5 : 0.9);
      if (over(slide) <= 1) return;
    }
  };
  const draw = () => {
    if (!data.on) return;
    const all = slides();
    if (talk.enter === "after" && all.length > talk.count) {
      write(talk.count);
      talk.enter = "";
    }
    if (talk.enter === "last") write(Math.max(all.length - 1, 0));
    say();
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
    const many = data.steps > 1;
    const where = [many ? `Step ${data.step} of ${data.steps}` : "", count > 1 ? `${many ? "slide " : ""}${at + 1} of ${count}` : ""];
    const end = isLast(slides(), at) && !joining(); // nothing comes after this screen
    const unvoted = talk.again && slides()[at]?.querySelector(NO_VOTES);
    const hold = document.querySelector(HOLD) ? "Hold this lesson" : "";
    const parts = [
      ["before", title("before"), "page", "The page before (Shift and ←)"],
      ["back", "←", "", "Back"],
      ["", where.filter(Boolean).join(", "), "", ""],
      ["next", end ? "End" : unvoted ? "→ Reveal without votes" : "→", "", end ? "End: back to the page (→)" : "Next"],
      ["behind", title("behind"), "page", "The next page (Shift and →)"],
      ["leave", "Esc", "", "Leave the presentation"],
      ["hold", hold, "", "Hold this lesson for the room: its questions become votes (H)"],
      ["", document.querySelector(HERE)?.textContent ?? "", "", ""],
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
  const isLast = (all, at) => at + 1 >= all.length && data.step >= data.steps && unanswered(all) < 0;
  const joining = () => new URLSearchParams(location.search).get("join") === "1";
  const unanswered = (all) => all.findIndex((each) => each.querySelector(UNANSWERED));
  const show = (all, at) => {
    write(at);
    draw();
    all[at].scrollTop = 0;
  };
  const move = (by) => {
    document.querySelector('[class*="st-key-notes-"] details[open] summary')?.click(); // they are for one screen
    const all = slides();
    const at = place(all);
    const reveal = by > 0 && all[at]?.querySelector(REVEAL);
    const scene = by > 0 ? all[at]?.querySelector(STAGED) : null;
    const stage = scene ? inside(scene).querySelector(".playground") : null;
    const again = talk.again;
    talk.enter = "";
    talk.again = false;
    if (stage?.ariaBusy === "true") return; // what comes of it is not there yet
    if (stage?.hasAttribute("data-waits")) {
      stage.querySelector(".forget").click();
    } else if (reveal) {
      if (again || !all[at].querySelector(NO_VOTES)) return reveal.click();
      talk.again = true;
      draw();
    } else if (at + by >= 0 && at + by < all.length) {
      show(all, at + by);
    } else if (by > 0 && unanswered(all) >= 0) {
      show(all, unanswered(all)); // of a scene the answer can be shown once it was played
    } else if (data.step + by >= 1 && data.step + by <= data.steps && Date.now() - talk.asked > ON_ITS_WAY) {
      talk.asked = Date.now();
      talk.enter = by < 0 ? "last" : "first";
      setTriggerValue("move", by);
    } else if (by > 0 && isLast(all, at)) act(joining() ? "joined" : "leave");
  };
  // the answer has a screen of its own behind the question's, and is what comes next
  const asked = (event) => {
    if (!event.target.closest?.(REVEAL)) return;
    talk.enter = "after";
    talk.count = slides().length;
  };
  // whether a page without figures has been scrolled to its end on this side
  const main = () => document.querySelector('[data-testid="stMain"]');
  const ended = (on) => (on ? main().scrollTop + main().clientHeight >= main().scrollHeight - 2 : main().scrollTop <= 0);
  const act = (what) => {
    if (what === "next" || what === "back") move(what === "next" ? 1 : -1);
    else if (what === "leave") setTriggerValue("present", false);
    else if (what === "hold") document.querySelector(HOLD)?.click();
    else if (what === "joined") document.querySelector(JOINS)?.click();
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
    } else if (event.key === "h" || event.key === "H") {
      act("hold");
    } else if (event.key === "j" || event.key === "J") {
      act("joined");
    } else if (["ArrowRight", "PageDown", "ArrowLeft", "PageUp"].includes(event.key)) {
      const on = event.key === "ArrowRight" || event.key === "PageDown";
      if (event.shiftKey) act(on ? "behind" : "before");
      else if (arrow || root.dataset.presenting === "figures" || ended(on)) move(on ? 1 : -1);
      else main().scrollBy({ top: (on ? 0.85 : -0.85) * main().clientHeight }); // the keys reach the window, which has no scroll bar
      event.preventDefault();
    } else if (["ArrowDown", "ArrowUp"].includes(event.key)) {
      (document.querySelector("[data-on]") ?? main()).scrollBy({ top: event.key === "ArrowDown" ? 120 : -120 });
    }
  };

  // --- a page that has just been drawn
  const step = `${data.page} ${data.step}`;
  if (data.on && talk.step !== step) {
    if (talk.step && talk.enter !== "last") write(0);
    talk.asked = 0;
  }
  talk.step = data.on ? step : "";
  if (!data.on) write(0);
  let planned = 0;
  const soon = () => {
    if (!planned) planned = requestAnimationFrame(() => { planned = 0; draw(); });
  };
  const watch = new MutationObserver(soon);
  resized = new ResizeObserver(soon);
  const button = parentElement.querySelector("button");
  const start = () => setTriggerValue("present", true);
  button?.addEventListener("click", start);
  document.addEventListener("keydown", press);
  button?.setAttribute("aria-keyshortcuts", "P"); // from now on: the key did nothing before
  if (data.on) {
    document.addEventListener("click", asked, true);
    watch.observe(document.querySelector('[data-testid="stMain"]'), { childList: true, characterData: true, subtree: true });
    window.addEventListener("resize", soon);
    draw();
  }
  return (talk.stop = () => {
    button?.removeEventListener("click", start);
    document.removeEventListener("keydown", press);
    document.removeEventListener("click", asked, true);
    window.removeEventListener("resize", soon);
    watch.disconnect();
    resized.disconnect();
    cancelAnimationFrame(planned);
    document.querySelector(".mucore-foot")?.remove();
    delete root.dataset.presenting;
  });
}
