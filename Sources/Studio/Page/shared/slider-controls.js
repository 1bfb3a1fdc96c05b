/**
 * Sliders for numbers, lengths and points.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Length} Length
 * @typedef {import("../sidelight/Generated/message-types.js").LengthUnit} LengthUnit
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterDescription
 * } ParameterDescription
 * @typedef {import("./controls.js").ControlFactory} ControlFactory
 */

import { element, iconButton, rounded, words } from "./dom.js";

/** The number of steps of a slider. */
const STEPS = 200;
/** @type {Record<string, string>} */
const UNITS = { PIXELS: "px", RADIANS: "rad", KELVIN: "K", STOPS: "stops" };
/** @type {[LengthUnit, string][]} */
const LENGTH_UNITS = [
  ["PIXELS", "px"], ["WIDTH", "× width"], ["HEIGHT", "× height"], ["SHORT_SIDE", "× short side"],
];

/** @type {ControlFactory} */
export function numberControl(parameter, value, id, change) {
  const unit = UNITS[parameter.unit] ?? "";
  const pair = sliderAndNumber(id, words(parameter.name), rangeOf(parameter), limitsOf(parameter),
    unit, (number) => change({ number }));
  pair.show(value.number ?? 0);
  return { elements: pair.elements, show: (other) => pair.show(other.number ?? 0) };
}

/** @type {ControlFactory} */
export function lengthControl(parameter, value, id, change, { frameSize }) {
  let unit = lengthOf(value).unit;
  const label = words(parameter.name);
  const choice = element("select", { class: "unit", "aria-label": `Unit of ${label}`,
    change: () => {
      const number = pair.value() * pixelsPer(unit) / pixelsPer(choice.value);
      unit = choice.value;
      showIn(rounded(number));
      change({ length: { value: pair.value(), unit } });
    } },
  ...LENGTH_UNITS.map(([name, shown]) => element("option", { value: name }, shown)));
  const pair = sliderAndNumber(id, label, rangeOf(parameter), limitsOf(parameter), "",
    (number) => change({ length: { value: number, unit } }));

  /** @param {LengthUnit} each */
  function pixelsPer(each) {
    const { width, height } = frameSize();
    switch (each) {
      case "WIDTH": return width;
      case "HEIGHT": return height;
      case "SHORT_SIDE": return Math.min(width, height);
      default: return 1;
    }
  }

  /** @param {number} number */
  function showIn(number) {
    const scale = pixelsPer(unit);
    const { minimum, maximum } = rangeOf(parameter);
    pair.setRange({ minimum: minimum / scale, maximum: maximum / scale });
    pair.show(number);
    choice.value = String(unit);
  }

  showIn(lengthOf(value).value);
  return {
    elements: [...pair.elements, choice],
    show: (other) => {
      unit = lengthOf(other).unit;
      showIn(lengthOf(other).value);
    },
  };
}

/** @type {ControlFactory} */
export function pointControl(parameter, value, id, change, context) {
  const label = words(parameter.name);
  const place = { x: 0, y: 0 };
  const send = () => change({ point: {
    x: { value: rounded(place.x), unit: "WIDTH" }, y: { value: rounded(place.y), unit: "HEIGHT" },
  } });
  const [across, down] = /** @type {["x", "y"]} */ (["x", "y"]).map((axis) => {
    const axisLabel = `${label}, ${axis === "x" ? "from the left" : "from the top"}`;
    return sliderAndNumber(axis === "x" ? id : `${id}-y`, axisLabel, { minimum: 0, maximum: 1 },
      { minimum: -100, maximum: 100 }, axis === "x" ? "× width" : "× height", (number) => {
        place[axis] = number;
        send();
      });
  });
  const { pickPoint } = context;
  const pick = pickPoint ? [iconButton("point", `Pick ${label} in the picture`, {
    class: "icon-button pick", "data-action": "pick",
    click: () => pickPoint((x, y) => {
      Object.assign(place, { x, y });
      across.show(rounded(x));
      down.show(rounded(y));
      send();
    }),
  })] : [];

  /** @param {import("../sidelight/Generated/message-types.js").ParameterValue} other */
  function show(other) {
    const { width, height } = context.frameSize();
    const [x = 0, y = 0] = other.vector?.values ?? [
      pixels(other.point?.x, width, height), pixels(other.point?.y, width, height)];
    Object.assign(place, { x: rounded(x / width), y: rounded(y / height) });
    across.show(place.x);
    down.show(place.y);
  }
  show(value);
  return { elements: [...pick, ...across.elements, ...down.elements], show };
}

/**
 * A slider with a field for exact numbers.
 *
 * @param {string} id The ID of the slider.
 * @param {string} label
 * @param {{minimum: number, maximum: number}} range The range of the slider.
 * @param {{minimum: number, maximum: number}} limits The range of valid numbers.
 * @param {string} unit
 * @param {(number: number) => void} change
 */
function sliderAndNumber(id, label, range, limits, unit, change) {
  const slider = element("input", { id, type: "range", "aria-label": label,
    input: () => {
      const number = rounded(Number(slider.value));
      show(number);
      change(number);
    } });
  const field = element("input", {
    type: "number", class: "number", "aria-label": `${label}, number`, step: "any",
    min: limits.minimum, max: limits.maximum, inputmode: "decimal", change: take,
  });
  const shownUnit = element("span", { class: "unit", "aria-hidden": "true" }, unit);

  function take() {
    if (field.value === "" || !Number.isFinite(Number(field.value))) return;
    const number = Math.min(limits.maximum, Math.max(limits.minimum, Number(field.value)));
    show(number);
    change(number);
  }

  /** @param {number} number */
  function show(number) {
    slider.value = String(number);
    field.value = String(rounded(number, 4));
    const turn = unit === "rad" ? ` (${Math.round(number * 180 / Math.PI)} degrees)` : "";
    slider.setAttribute("aria-valuetext", `${field.value} ${unit}${turn}`.trim());
    if (turn) shownUnit.textContent = `${Math.round(number * 180 / Math.PI)}°`;
  }

  /** @param {{minimum: number, maximum: number}} other */
  function setRange({ minimum, maximum }) {
    Object.assign(slider, { min: minimum, max: maximum, step: (maximum - minimum) / STEPS });
    slider.step = String(rounded((maximum - minimum) / STEPS, 2));
  }
  setRange(range);
  return {
    elements: [slider, field, ...(unit ? [shownUnit] : [])], show, setRange,
    value: () => Number(field.value),
  };
}

/** @param {ParameterDescription} parameter */
function rangeOf({ slider, limits }) {
  return slider ?? limits ?? { minimum: 0, maximum: 1 };
}

/** @param {ParameterDescription} parameter */
function limitsOf({ limits }) {
  return limits ?? { minimum: -1e6, maximum: 1e6 };
}

/**
 * @param {import("../sidelight/Generated/message-types.js").ParameterValue} value
 * @returns {Length}
 */
function lengthOf({ number, length }) {
  const unit = !length || length.unit === "UNSPECIFIED" ? "PIXELS" : length.unit;
  return { value: length?.value ?? number ?? 0, unit };
}

/** @param {Length|undefined} length @param {number} width @param {number} height */
function pixels(length, width, height) {
  const scales = { WIDTH: width, HEIGHT: height, SHORT_SIDE: Math.min(width, height) };
  return (length?.value ?? 0) * (scales[/** @type {"WIDTH"} */ (length?.unit)] ?? 1);
}
