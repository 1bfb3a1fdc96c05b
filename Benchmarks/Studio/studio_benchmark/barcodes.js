// Measures the studio from the camera to the screen. A video element shows the camera as it is, and
// says when the frame with each number was captured; the number in the studio's picture is read
// each time the browser draws. Injected by the benchmark; the page knows nothing of it.
window.studioBarcodes = (() => {
  const captured = new Map();
  const shown = new Map();
  let isRunning = true;
  let beginMs = 0;

  function middle(begin, end, part) {
    const margin = (end - begin) * (1 - part) / 2;
    const first = Math.floor(begin + margin);
    return [first, Math.max(first + 1, Math.floor(end - margin))];
  }

  function mean(image, left, top, right, bottom) {
    let sum = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) sum += image.data[4 * (y * image.width + x) + 1];
    }
    return sum / ((right - left) * (bottom - top));
  }

  // Returns the number in a picture; null if a bit is unreadable.
  function reader({ bits, strip, rows, centre, minContrast }) {
    let context;
    return (image, width, height) => {
      const depth = Math.round(height * strip);
      if (!context || context.canvas.width !== width) {
        context = new OffscreenCanvas(width, depth).getContext("2d", { willReadFrequently: true });
      }
      context.drawImage(image, 0, 0, width, depth, 0, 0, width, depth);
      const pixels = context.getImageData(0, 0, width, depth);
      let number = 0;
      for (let bit = 0; bit < bits; bit++) {
        const [left, right] = middle(bit * width / bits, (bit + 1) * width / bits, centre);
        const [data, opposite] = rows.map(([begin, end]) => {
          const [top, bottom] = middle(begin * depth, end * depth, centre);
          return mean(pixels, left, top, right, bottom);
        });
        if (Math.abs(data - opposite) < minContrast) return null;
        number = number * 2 + (data > opposite ? 1 : 0);
      }
      return number;
    };
  }

  return {
    async start(layout) {
      const video = document.createElement("video");
      video.muted = true;
      video.srcObject = await navigator.mediaDevices.getUserMedia({
        video: { width: 640, height: 360, frameRate: 30 } });
      await video.play();
      const readCamera = reader(layout);
      const readPicture = reader(layout);
      const onFrame = (now, metadata) => {
        if (!isRunning) return;
        video.requestVideoFrameCallback(onFrame);
        const number = readCamera(video, video.videoWidth, video.videoHeight);
        if (number !== null) captured.set(number, metadata.captureTime ?? now);
      };
      video.requestVideoFrameCallback(onFrame);
      const picture = document.querySelector("#picture");
      let last = null;
      const onDraw = () => {
        if (!isRunning) return;
        requestAnimationFrame(onDraw);
        const number = readPicture(picture, picture.width, picture.height);
        if (number === null || number === last) return;
        last = number;
        shown.set(number, performance.now());
      };
      requestAnimationFrame(onDraw);
    },
    clear() {
      captured.clear();
      shown.clear();
      beginMs = performance.now();
    },
    // Ends, and returns the latencies in milliseconds, the numbers of frames on the screen and of
    // the camera, and the seconds since `clear`.
    stop() {
      isRunning = false;
      const seconds = (performance.now() - beginMs) / 1000;
      const latencies = [...shown].filter(([number]) => captured.has(number))
        .map(([number, time]) => time - captured.get(number)).filter((each) => each >= 0);
      return { latencies, shown: shown.size, captured: captured.size, seconds };
    },
  };
})();
