// Reads the frame numbers and the colours of the videos of a page, frame by frame. Injected by the
// tests; the page knows nothing of it.
window.sidelightReader = (() => {
  // The samples that a reader keeps; older ones are removed.
  const MOST_SAMPLES = 20000;
  const readers = new Map();
  const waiting = new Set();

  const recheck = () => waiting.forEach((check) => check());
  new MutationObserver(recheck).observe(document, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });

  function canvas(width, height) {
    const context = new OffscreenCanvas(width, height)
      .getContext("2d", { willReadFrequently: true });
    return context;
  }

  // The mean of a channel, or of each channel, in a rectangle of an image.
  function mean(image, left, top, right, bottom) {
    const sums = [0, 0, 0];
    let count = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++, count++) {
        const at = 4 * (y * image.width + x);
        for (let channel = 0; channel < 3; channel++) sums[channel] += image.data[at + channel];
      }
    }
    return sums.map((sum) => Math.round(sum / count));
  }

  function middle(begin, end, part) {
    const margin = (end - begin) * (1 - part) / 2;
    const first = Math.floor(begin + margin);
    return [first, Math.max(first + 1, Math.floor(end - margin))];
  }

  class Reader {
    constructor(video, layout, areas, detail) {
      Object.assign(this, { video, layout, areas, detail, samples: [], lost: 0, stopped: false });
      this.next();
    }

    next() {
      this.handle = this.video.requestVideoFrameCallback((now, metadata) => {
        if (this.stopped) return;
        this.next();
        this.samples.push(this.sample(metadata));
        if (this.samples.length > MOST_SAMPLES) {
          this.samples.shift();
          this.lost++;
        }
        recheck();
      });
    }

    sample(metadata) {
      const { videoWidth: width, videoHeight: height } = this.video;
      return {
        number: this.number(width, height),
        colours: this.colours(),
        contrast: this.contrast(width, height),
        // Milliseconds of the system clock, so that pages can be compared.
        shown: performance.timeOrigin + metadata.presentationTime,
        captured: metadata.captureTime === undefined
          ? null : performance.timeOrigin + metadata.captureTime,
        rtpTimestamp: metadata.rtpTimestamp ?? null,
        presented: metadata.presentedFrames,
        width, height,
      };
    }

    number(width, height) {
      const { bits, strip, rows, centre, minContrast } = this.layout;
      const stripHeight = Math.round(height * strip);
      if (!this.strip || this.strip.canvas.width !== width) this.strip = canvas(width, stripHeight);
      this.strip.drawImage(this.video, 0, 0, width, stripHeight, 0, 0, width, stripHeight);
      const image = this.strip.getImageData(0, 0, width, stripHeight);
      let number = 0;
      for (let bit = 0; bit < bits; bit++) {
        const [left, right] = middle(bit * width / bits, (bit + 1) * width / bits, centre);
        const [data, opposite] = rows.map(([begin, end]) => {
          const [top, bottom] = middle(begin * strip * height, end * strip * height, centre);
          return mean(image, left, top, right, bottom)[1];
        });
        if (Math.abs(data - opposite) < minContrast) return null;
        number = number * 2 + (data > opposite ? 1 : 0);
      }
      return number;
    }

    colours() {
      const names = Object.keys(this.areas);
      if (!names.length) return {};
      this.small ??= canvas(160, 90);
      this.small.drawImage(this.video, 0, 0, 160, 90);
      const image = this.small.getImageData(0, 0, 160, 90);
      return Object.fromEntries(names.map((name) => {
        const [x, y, w, h] = this.areas[name];
        const [left, right] = middle(x * 160, (x + w) * 160, 0.6);
        const [top, bottom] = middle(y * 90, (y + h) * 90, 0.6);
        return [name, mean(image, left, top, right, bottom)];
      }));
    }

    // The mean deviation of the brightness from its mean, in the area with small squares.
    contrast(width, height) {
      const [x, y, w, h] = this.detail;
      const size = [Math.floor(w * width), Math.floor(h * height)];
      if (!this.squares || this.squares.canvas.width !== size[0]) this.squares = canvas(...size);
      this.squares.drawImage(this.video, x * width, y * height, ...size, 0, 0, ...size);
      const { data } = this.squares.getImageData(0, 0, ...size);
      const pixels = data.length / 4;
      let sum = 0;
      for (let at = 1; at < data.length; at += 4) sum += data[at];
      let deviation = 0;
      for (let at = 1; at < data.length; at += 4) deviation += Math.abs(data[at] - sum / pixels);
      return deviation / pixels;
    }

    stop() {
      this.stopped = true;
      this.video.cancelVideoFrameCallback(this.handle);
    }
  }

  return {
    // Starts to read a video under a name; a reader of the same name ends.
    read(name, video, layout, areas, detail) {
      readers.get(name)?.stop();
      readers.set(name, new Reader(video, layout, areas, detail));
    },
    // Returns the samples since the last call.
    take(name) {
      return readers.get(name).samples.splice(0);
    },
    samples(name) {
      return readers.get(name)?.samples ?? [];
    },
    stop(name) {
      readers.get(name)?.stop();
      readers.delete(name);
    },
    // Waits until a condition returns something; it is evaluated when the document changes and when
    // a frame was read.
    until(condition, seconds, description) {
      return new Promise((resolve, reject) => {
        const end = (settle, value) => {
          waiting.delete(check);
          clearTimeout(timer);
          settle(value);
        };
        const check = () => {
          try {
            const value = condition();
            if (value) end(resolve, value);
          } catch (error) {
            end(reject, error);
          }
        };
        const timer = setTimeout(
          () => end(reject, new Error(`not within ${seconds} s: ${description}`)), seconds * 1000);
        waiting.add(check);
        check();
      });
    },
  };
})();
