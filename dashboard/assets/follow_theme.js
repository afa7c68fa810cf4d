export default function ({ parentElement, setTriggerValue }) {
  parentElement.stop?.(); // Streamlit calls this again for another theme without ending the call before
  const scheme = () => getComputedStyle(document.querySelector('[data-testid="stApp"]')).colorScheme;
  parentElement.scheme ??= scheme(); // the one that was drawn for last, also where the call before ended too soon
  const look = () => {
    const now = scheme();
    if (now === parentElement.scheme) return;
    parentElement.scheme = now;
    setTriggerValue("theme", now);
  };
  const timer = setInterval(look, 400);
  return (parentElement.stop = () => clearInterval(timer));
}
