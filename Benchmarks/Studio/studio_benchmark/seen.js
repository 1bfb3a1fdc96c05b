// Resolves when a condition on the colours of the camera's areas in the picture holds, tested every
// time the browser draws. Injected by the benchmark, with the observer of the tests.
window.studioSeen = (areas, condition) => new Promise((resolve) => {
  const check = () => {
    if (condition(studioObserver.colours(areas))) resolve();
    else requestAnimationFrame(check);
  };
  requestAnimationFrame(check);
});
