// Fetches the file of the page and hands it to the browser as a download. It goes on while the page
// is drawn anew, and says what came in its way.
const LOST = "The file did not arrive: the server is not answering. Press again in a while.";

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const name = button.querySelector("span");
  const said = parentElement.querySelector("p");
  button.title = data.help;
  button.onclick = async () => {
    button.disabled = true;
    name.textContent = "Making the file";
    said.textContent = "";
    try {
      const answer = await fetch(data.address, { cache: "no-store" });
      if (answer.ok) save(await answer.blob(), /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))[1]);
      else said.textContent = await answer.text();
    } catch {
      said.textContent = LOST;
    }
    name.textContent = "Take home";
    button.disabled = false;
  };
}

function save(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000); // the browser reads it first
}
