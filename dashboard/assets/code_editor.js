// A text area with line numbers. Tab indents and Enter keeps the indentation; after Escape the next Tab leaves the field.
const PAUSE = 600;

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const area = parentElement.querySelector("textarea");
  const numbers = parentElement.querySelector(".numbers");

  const count = () => {
    const lines = area.value.split("\n").length;
    numbers.replaceChildren(
      ...Array.from({ length: lines }, (_, place) => {
        const line = document.createElement("div");
        line.textContent = place + 1;
        return line;
      }),
    );
    numbers.scrollTop = area.scrollTop;
  };
  const send = () => {
    clearTimeout(area.timer);
    if (area.sent === area.value) return;
    area.sent = area.value;
    setStateValue("typed", { text: area.value, revision: area.revision });
  };
  const changed = () => {
    count();
    clearTimeout(area.timer);
    area.timer = setTimeout(send, PAUSE);
  };
  // insertText keeps what Ctrl-Z takes back
  const insert = (text) => document.execCommand("insertText", false, text);
  const starts = () => {
    const first = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    return [first, area.value.slice(first, area.selectionEnd)];
  };
  const shift = (back) => {
    const [first, block] = starts();
    const text = back ? block.replace(/^ {1,4}/gm, "") : block.replace(/^/gm, "    ");
    area.setSelectionRange(first, first + block.length);
    insert(text);
    area.setSelectionRange(first, first + text.length);
  };

  area.setAttribute("aria-label", data.label);
  if (area.revision !== data.revision) {
    area.revision = data.revision;
    area.value = area.sent = data.text;
  }
  count();
  area.oninput = changed;
  area.onblur = send;
  area.onscroll = () => (numbers.scrollTop = area.scrollTop);
  area.onkeydown = (event) => {
    if (event.key === "Escape") {
      area.leaving = true;
      return;
    }
    if (event.key === "Tab" && !area.leaving) {
      event.preventDefault();
      if (event.shiftKey || area.selectionStart !== area.selectionEnd) shift(event.shiftKey);
      else insert("    ");
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
      setTriggerValue("go", true);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const [, line] = starts();
      const last = line.slice(line.lastIndexOf("\n") + 1);
      insert("\n" + last.match(/^ */)[0] + (/:\s*$/.test(last) ? "    " : ""));
    }
    if (event.key !== "Shift") area.leaving = false;
  };
}
