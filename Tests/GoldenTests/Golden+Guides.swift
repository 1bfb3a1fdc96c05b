import SidelightKernels

extension Golden {
  /// The settings that the guides show.
  static let guides: [Golden] = [
    Golden(name: "edge-preserving-smooth", pipeline: [.filter("edgePreservingSmooth")]),
    Golden(
      name: "sharpen-adaptive",
      pipeline: [.filter("sharpenAdaptive", ["sharpness": .number(2)])]),
    Golden(name: "beauty", pipeline: [.filter("beauty", ["smoothing": .number(1)])]),
    Golden(name: "cartoon", pipeline: [.filter("cartoon")]),
    Golden(name: "sketch", pipeline: [.filter("sketch")]),
    Golden(
      name: "tone-curve",
      pipeline: [
        .filter(
          "toneCurve", ["point1": .vector([0.25, 0.15]), "point3": .vector([0.75, 0.88])])
      ]),
    Golden(
      name: "color-balance",
      pipeline: [
        .filter(
          "colorBalance",
          ["shadows": .vector([-0.4, 0, 0.5]), "highlights": .vector([0.5, 0.1, -0.4])])
      ]),
    // The sky.
    Golden(
      name: "chroma-key",
      pipeline: [
        .filter(
          "chromaKey",
          [
            "color": .vector([0.4, 0.6, 0.87]), "near": .number(0.08), "far": .number(0.16),
            "backgroundColor": .vector([0.9, 0.4, 0.6]),
          ])
      ]),
    Golden(
      name: "luma-key",
      pipeline: [
        .filter(
          "lumaKey",
          [
            "low": .number(0.25), "high": .number(0.45),
            "backgroundColor": .vector([0.1, 0.3, 0.8]),
          ])
      ]),
    Golden(name: "sepia", pipeline: [.filter("sepiaTone")]),
    Golden(name: "sepia-0.8", pipeline: [.filter("sepiaTone", ["intensity": .number(0.8)])]),
    Golden(name: "pixellate-12", pipeline: [.filter("pixellate", ["scale": .number(12)])]),
    // As large as a hole of 150 pixels needs.
    Golden(
      name: "hole", pipeline: [.filter("holeDistortion")],
      size: FrameSize(width: 480, height: 360)),
    Golden(name: "hue-pi", pipeline: [.filter("hueAdjust", ["angle": .number(.pi)])]),
    // A magnification by forty magnifies the error too.
    Golden(
      name: "sharpness-40",
      pipeline: [.filter("sharpenLuminance", ["sharpness": .number(40)])], tolerance: 2),
    // Gaussians so wide are computed on a reduced picture.
    Golden(
      name: "unsharp-40", pipeline: [.filter("unsharpMask", ["radius": .number(40)])],
      tolerance: 2),
    Golden(
      name: "bloom-25", pipeline: [.filter("bloom", ["radius": .number(25)])], tolerance: 2),
    Golden(
      name: "convolution-0.6",
      pipeline: [
        .filter(
          "convolution3X3",
          ["weights": .vector([0, 1, 0, -1, 0, 1, 0, -1, 0]), "bias": .number(0.6)])
      ]),
    Golden(name: "motion-20", pipeline: [.filter("motionBlur", ["radius": .number(20)])]),
    Golden(name: "zoom-20-at-500-500", pipeline: [Self.zoom]),
    Golden(
      name: "pixellate-zoom-hue",
      pipeline: [Self.pixellate, Stage(.pipeline([Self.zoom, Self.hue]))]),
    Golden(
      name: "vignette-instant",
      pipeline: [
        .filter("vignetteEffect", ["radius": .length(Length(0.5, .width))]),
        .filter("photoEffectInstant"),
      ]),
    Golden(name: "vintage", pipeline: [.filter("vintage")]),
    Golden(
      name: "text-plate",
      pipeline: [
        .text(
          text: "Ada Lovelace\nשלום 123", bold: true, size: 18,
          shadowColor: RGBAColor(red: 0, green: 0, blue: 0, alpha: 0.8),
          boxColor: RGBAColor(red: 0.1, green: 0.2, blue: 0.4, alpha: 0.7))
      ]),
    Golden(
      name: "text-outline",
      pipeline: [
        .text(
          text: "Wraps, AV fi", font: .dejaVuSerif, size: 28,
          color: RGBAColor(red: 1, green: 0.85, blue: 0.2), outlineWidth: 0.1, width: 120,
          position: .center)
      ]),
    Golden(
      name: "white-balance", pipeline: [.filter("whiteBalance", ["warmth": .number(0.3)])],
      light: [1, 0.75, 0.5]),
    Golden(
      name: "low-light", pipeline: [.filter("lowLight")], tolerance: 2,
      light: [0.25, 0.25, 0.25]),
    Golden(name: "timecode", pipeline: [.timecode(size: 16)]),
    Golden(
      name: "kernel-duotone",
      pipeline: [
        .filter(
          "kernel",
          [
            "source": .text(
              """
              param shadows: #1b1f5e param highlights: #ffd3a8
              return mix(shadows.rgb, highlights.rgb, smoothstep(0, 1, luma(color)))
              """),
            "highlights": .vector([1, 0.9, 0.7]),
          ])
      ]),
    Golden(
      name: "kernel-shift",
      pipeline: [
        .filter(
          "kernel",
          [
            "source": .text(
              """
              param shift: 2.5 in 0..16
              return vec3(sample(shift, 0).r, color.g, sample(-shift, 0).b)
              """),
            "shift": .number(4.25),
          ])
      ]),
  ]

  static let pixellate = Stage.filter("pixellate", ["scale": .number(12)])
  static let zoom = Stage.filter(
    "zoomBlur", ["center": .vector([500, 500]), "amount": .number(20)])
  static let hue = Stage.filter("hueAdjust", ["angle": .number(.pi)])
}
