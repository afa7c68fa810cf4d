"""What readers do with results, on the demo that comes with the program: select, export, read in
the dark, alone with a keyboard.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from applications import CUT, Application, ground, new_page, opened
from playwright.sync_api import Browser, Page, expect
from screenshots import PAGES

from dashboard import theme


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_on_the_demo_without_an_error_and_with_words_for_every_figure(
    demo: Application, page: Page, name: str
) -> None:
    opened(page, f"{demo.url}/{'' if name == 'start' else name}")
    page.wait_for_timeout(1000)
    expect(page.locator("h1")).to_have_text(
        re.compile(r"\?$") if name != "start" else re.compile(".")
    )
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    figures = page.get_by_test_id("stPlotlyChart")
    for number in range(figures.count()):
        assert len(figures.nth(number).get_attribute("aria-label") or "") > 20


@pytest.mark.parametrize(
    "name",
    ["launch", "results", "membership", "quality", "lessons", "papers", "reports", "glossary"],
)
def test_no_label_is_cut_in_a_window_of_1024_pixels(
    demo: Application, chromium: Browser, name: str
) -> None:
    page = new_page(chromium)
    page.set_viewport_size({"width": 1024, "height": 768})
    opened(page, f"{demo.url}/{name}")
    page.wait_for_timeout(1500)
    assert page.evaluate(CUT) == []


def test_figures_and_logo_follow_the_theme_at_once(demo: Application, chromium: Browser) -> None:
    """Both change without a reload, when the system goes over to the other theme and when the
    reader does in the menu.
    """
    page = new_page(chromium)
    page.emulate_media(color_scheme="light")
    opened(page, f"{demo.url}/replay")
    logo = page.get_by_test_id("stSidebarLogo").or_(page.get_by_test_id("stHeaderLogo")).first
    label = page.locator("[data-testid=stPlotlyChart] .slider-label").first
    expect(label).to_be_visible()

    def colors() -> tuple[str | None, str]:
        return logo.get_attribute("src"), label.evaluate("node => getComputedStyle(node).fill")

    light = colors()
    page.emulate_media(color_scheme="dark")
    expect(logo).not_to_have_attribute("src", light[0] or "")
    expect(label).not_to_have_css("fill", light[1])
    dark = colors()
    page.get_by_test_id("stMainMenu").locator("button").or_(
        page.get_by_test_id("stMainMenuButton")
    ).first.click()
    page.get_by_test_id("stMainMenuItem-theme-Light").click()
    expect(logo).not_to_have_attribute("src", dark[0] or "")
    expect(label).to_have_css("fill", light[1])
    assert colors() == light


def test_a_point_of_the_scatter_selects_its_run_and_the_address_keeps_it(
    demo: Application, page: Page
) -> None:
    opened(page, f"{demo.url}/results?scenario=class_wise")
    points = page.locator("[data-testid=stPlotlyChart] .scatterlayer .point")
    expect(points.first).to_be_visible()
    points.first.click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]row="))
    command = page.get_by_text("python -m mucore run").first
    expect(command).to_be_visible()
    address, title = (
        page.url,
        page.get_by_test_id("stVerticalBlock").locator("h3").first.inner_text(),
    )
    opened(page, address)  # a copied address shows the same run
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()
    assert page.get_by_test_id("stVerticalBlock").locator("h3").first.inner_text() == title


def test_a_cell_of_a_heat_map_selects_its_run_wherever_in_the_cell_the_click_is(
    demo: Application, page: Page
) -> None:
    opened(page, f"{demo.url}/compare?view=classes")
    cells = page.locator("[data-testid=stPlotlyChart] .scatterlayer .point")
    expect(cells.first).to_be_attached()
    page.wait_for_timeout(1000)
    boxes = [
        box
        for box in cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        if box["width"]
    ]
    x, y = (boxes[0][side] + boxes[0][size] / 2 for side, size in (("x", "width"), ("y", "height")))
    # near the right edge of the first cell
    page.mouse.click(x + 0.4 * (boxes[1]["x"] - boxes[0]["x"]), y)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()
    expect(page.locator("h3").first).to_have_text(re.compile("^Original"))


@pytest.mark.parametrize(
    ("name", "part"),
    [("results", "results_figure"), ("representation", "similarity_figure"), ("launch", "outcome")],
)
def test_what_stands_beside_a_long_column_stays_in_sight(
    demo: Application, page: Page, name: str, part: str
) -> None:
    # where it has no room beside the table, Results' figure stands below
    page.set_viewport_size({"width": 1920, "height": 1000})
    opened(page, f"{demo.url}/{name}")
    beside = page.locator(f".st-key-{part}")
    expect(beside).to_be_visible()
    page.wait_for_timeout(2000)
    page.get_by_test_id("stMain").evaluate("node => node.scrollTo(0, 600)")
    page.wait_for_timeout(500)
    box = beside.bounding_box()
    # it would be some hundred pixels above the window
    assert box is not None and 0 <= box["y"] < 200


def test_numbers_leave_as_a_file_that_a_spreadsheet_reads(
    demo: Application, page: Page, tmp_path: Path
) -> None:
    opened(page, f"{demo.url}/results?scenario=one_class")
    with page.expect_download() as caught:
        page.get_by_role("button", name="CSV, full precision").click()
    caught.value.save_as(tmp_path / "table.csv")
    frame = pd.read_csv(tmp_path / "table.csv")
    assert {"method", "ta", "fa"} <= {name.partition(" ")[0] for name in frame.columns} and len(
        frame
    ) > 5


def test_two_readers_do_not_see_each_others_choices(demo: Application, chromium: Browser) -> None:
    first, second = new_page(chromium), new_page(chromium)
    opened(first, f"{demo.url}/results?scenario=one_class&view=gap")
    opened(second, f"{demo.url}/results?scenario=class_wise")
    first.locator("tr[data-row]").first.click()
    expect(first).to_have_url(re.compile("row="))
    second.reload()
    expect(second.locator("tr[data-row]").first).to_be_visible()
    assert "row=" not in second.url and "scenario=class_wise" in second.url
    expect(first.locator("h1")).not_to_have_text(second.locator("h1").inner_text())


def test_the_dark_theme_reaches_page_and_figures(demo: Application, chromium: Browser) -> None:
    for name, look in (("light", theme.LIGHT), ("dark", theme.DARK)):
        page = opened(new_page(chromium, theme=name), f"{demo.url}/results?scenario=one_class")
        assert ground(page) == look.background
        tick = page.locator("[data-testid=stPlotlyChart] .xtick text").first
        expect(tick).to_be_visible()
        color = tick.evaluate("node => getComputedStyle(node).fill")
        drawn = "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", color)[:3])
        assert drawn == look.muted and theme.contrast(drawn, look.background) >= 4.5


def test_a_keyboard_is_enough_to_reach_a_page_and_open_a_run(demo: Application, page: Page) -> None:
    opened(page, demo.url)
    tab_to(page, "node => node.matches('a') && node.innerText.trim().endsWith('Results')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/results"))
    expect(page.locator("tr[data-row]").first).to_be_visible()
    # the last thing drawn: from here on the table stays as it is
    expect(page.get_by_text("Provenance").first).to_be_visible()
    page.wait_for_timeout(2000)
    tab_to(page, "node => node.matches('tr[data-row]')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("row="))
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the focused element is the one wanted; the table stands in a shadow root,
    which hides its own focus.
    """
    focused = (
        "() => { let node = document.activeElement; while (node && node.shadowRoot) node = "
        "node.shadowRoot.activeElement; return node }"
    )
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(
            f"() => {{ const node = ({focused})(); return Boolean(node) && ({wanted})(node) }}"
        ):
            return
    pytest.fail(f"The Tab key never reached what {wanted} describes.")
