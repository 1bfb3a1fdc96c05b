// Reads the colours of the studio's picture. Injected by the tests; the page does not depend on it.
window.studioObserver = (() => {
  const context = new OffscreenCanvas(160, 90).getContext("2d", { willReadFrequently: true });

  // The mean of every channel in the middle of an area: x, y, width and height as parts of the
  // picture.
  function mean(image, [x, y, width, height]) {
    const sums = [0, 0, 0];
    let count = 0;
    const [left, top] = [Math.round((x + width / 4) * 160), Math.round((y + height / 4) * 90)];
    const [right, bottom] = [
      Math.round((x + 3 * width / 4) * 160), Math.round((y + 3 * height / 4) * 90)];
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++, count++) {
        const at = 4 * (row * 160 + column);
        for (let channel = 0; channel < 3; channel++) sums[channel] += image.data[at + channel];
      }
    }
    return sums.map((sum) => Math.round(sum / count));
  }

  return {
    colours(areas, selector = "#picture") {
      context.drawImage(document.querySelector(selector), 0, 0, 160, 90);
      const image = context.getImageData(0, 0, 160, 90);
      return Object.fromEntries(
        Object.entries(areas).map(([name, area]) => [name, mean(image, area)]));
    },
  };
})();
