// The search runs in a Worker, which browsers don't start for pages that are opened from a folder.
// There it runs in a hidden frame of its own.
if (location.protocol === "file:") {
  const begin =
    "<script>postMessage = (data) => parent.postMessage(data, '*');" +
    "importScripts = (...urls) => Promise.all(urls.map((url) => new Promise((done) => {" +
    "const s = document.createElement('script'); s.src = url; s.onload = done;" +
    "document.body.appendChild(s); })));</script>";

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inner = frame.contentWindow;
      window.addEventListener("message", (message) => {
        if (message.source === this.inner) {
          const copy = new MessageEvent("message", { data: message.data });
          this.dispatchEvent(copy);
          if (this.onmessage) this.onmessage(copy);
        }
      });
      const page = this.inner.document;
      page.open();
      this.ready = new Promise((done) => { this.inner.onload = done; });
      page.write(`<body>${begin}<script src="${url}"></script></body>`);
      page.close();
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
