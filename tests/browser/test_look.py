"""The rules of every page that shows a figure: it comes first and has words, few words stand before
it, no label is cut, and no two of its texts meet, at four widths; in the dark at one, without
being loaded again.
"""

from __future__ import annotations

import pytest
from applications import CUT, Application, new_page, opened, still
from playwright.sync_api import Browser, Page

SIZES = [(1280, 800), (1024, 768), (390, 844), (1920, 1080)]  # width, height
FIRST = {1280: 300, 1024: 360, 390: 360}  # the first figure begins above this height
TALL = 400  # pixels of it at 1280
BEFORE, WHOLE = 120, 250  # words before the figure ends, and on the page
# The pages that are measured: those of figures. A page joins as it is rebuilt, and none leaves.
PAGES = [
    *("start", "results", "budget", "tradeoffs", "depoisoning"),
    *("representation", "attacks", "compare", "identity"),
]

LOOK = """([pages]) => {
  const main = document.querySelector('[data-testid="stMain"]');
  const seen = (box) => box.width > 40 && box.height > 40;
  const drawn = [...main.querySelectorAll('.js-plotly-plot, .st-key-hero')];
  const figures = drawn.map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => seen(box));
  if (!figures.length) return null;
  const first = figures[0][1];
  const own = 'table, [role="grid"], .js-plotly-plot, button, [role="radiogroup"], '
    + '[data-testid="stExpander"]';
  const words = (end) => {
    let count = 0;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, holder = node.parentElement;
      if (!holder || holder.closest(own) || holder.closest('style, script')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (!box.width || box.top > end) continue;
      count += node.textContent.split(/\\s+/).filter((word) => /\\w/.test(word)).length;
    }
    return count;
  };
  const pairs = [], outside = [];
  const shared = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left))
    * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  for (const [plot, frame] of figures) {
    const texts = [...plot.querySelectorAll('text')].filter((one) => one.textContent.trim())
      .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])
      .filter(([, box]) => box.width > 2 && box.height > 2);
    texts.forEach(([text, box], place) => {
      if (box.right > frame.right + 3 || box.left < frame.left - 3) outside.push(text);
      for (const [other, second] of texts.slice(place + 1)) {
        const least = Math.min(box.width * box.height, second.width * second.height);
        if (text !== other && shared(box, second) > least / 5) pairs.push(`${text} | ${other}`);
      }
    });
  }
  return { top: Math.round(first.top), height: Math.round(first.height),
    before: words(first.bottom), whole: words(1e9),
    dumb: drawn.filter((one) => one.matches('.js-plotly-plot')
      && (one.closest('[aria-label]')?.ariaLabel ?? '').length <= 20).length,
    wide: document.documentElement.scrollWidth - innerWidth, pairs, outside };
}"""


# The colour that figures are written in.
WORDS = "[...document.querySelectorAll('.main-svg text')]"
INK = f"() => {WORDS}.map((each) => getComputedStyle(each).fill)[0]"


@pytest.fixture(scope="module")
def page(started: Browser) -> Page:
    return new_page(started)


@pytest.mark.parametrize("name", PAGES)
def test_the_figure_comes_first_and_none_of_its_texts_meet(
    demo: Application, page: Page, name: str
) -> None:
    broken = []
    page.emulate_media(color_scheme="light")
    for number, (width, height) in enumerate(SIZES):
        page.set_viewport_size({"width": width, "height": height})
        if number == 0 or width == 390:  # a phone does not grow narrow, it is
            opened(page, f"{demo.url}/{name}" if name != "start" else demo.url)
        if width == 1920:
            light = page.evaluate(INK)
            page.emulate_media(color_scheme="dark")
            page.wait_for_function(f"![undefined, {light!r}].includes(({INK})())")
        still(page)
        found = page.evaluate(LOOK, [name])
        assert found is not None
        broken += [f"{width}: {cut}" for cut in page.evaluate(CUT)] if width == 1024 else []
        if found["top"] > FIRST.get(width, height) or (width == 1280 and found["height"] < TALL):
            broken.append(f"{width}: the figure is at {found['top']}, {found['height']} high")
        if width == 1280 and (found["before"] > BEFORE or found["whole"] > WHOLE):
            broken.append(
                f"{found['before']} words before the figure ends, {found['whole']} in all"
            )
        broken += [f"{width}: {pair}" for pair in found["pairs"] + found["outside"]]
        if found["dumb"]:
            broken.append(f"{width}: {found['dumb']} figures without words")
        if found["wide"] > 0:
            broken.append(f"{width}: {found['wide']} pixels beyond the window")
    assert broken == []
