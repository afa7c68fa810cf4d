// Draws a reader's page anew as soon as the presenter has moved. A look is a small request, since a
// run of the page for each look of thirty readers would keep the server busy.
const AGAIN = 20000; // milliseconds in which the page should have come, before it is asked for again

export default function ({ data, parentElement, setTriggerValue }) {
  clearInterval(parentElement.looks); // those of the page before, which compare with another place
  // who is taken to another step reads it from its top
  const step = data.address.includes("follow=1") ? data.place.split(":", 2).join() : "";
  if (step && window.mucoreStep && step !== window.mucoreStep) document.querySelector('[data-testid="stMain"]').scrollTo(0, 0);
  window.mucoreStep = step;
  let told = -Infinity;
  const look = async () => {
    try {
      const answer = await fetch(data.address, { cache: "no-store" });
      const moved = answer.ok && (await answer.text()) !== data.place;
      // a page that is on its way, or waits for its turn, would wait anew
      const drawn = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "running";
      if (!moved || !drawn || parentElement.looks !== timer || Date.now() - told < AGAIN) return;
      told = Date.now();
      setTriggerValue("moved", told);
    } catch {
      // no answer: the next look may have one
    }
  };
  const timer = setInterval(look, data.pause);
  parentElement.looks = timer;
  return () => clearInterval(timer);
}
