extension FilterCatalogue {
  /// Adds the filters of this module. They replace filters of the same names.
  package mutating func registerPixelFilters() {
    for type in Self.builtInTypes { self.register(type) }
    for effect in PhotoEffect.all { self.register(effect) }
  }

  /// The built-in filters that have separate types, by category. ``PhotoEffect/all`` lists the
  /// others.
  private static let builtInTypes: [any CatalogueFilter.Type] = [
    // Colour.
    ColorBalance.self,
    ColorControls.self,
    ColorCube.self,
    ColorInvert.self,
    ColorMatrixFilter.self,
    ExposureAdjust.self,
    GammaAdjust.self,
    Grayscale.self,
    HueAdjust.self,
    LowLight.self,
    SepiaTone.self,
    TemperatureAndTint.self,
    ToneCurveFilter.self,
    Vibrance.self,
    WhiteBalance.self,
    WhitePointAdjust.self,
    // Effects.
    Beauty.self,
    Glow.self,
    Grain.self,
    RandomGenerator.self,
    Vignette.self,
    VignetteEffect.self,
    Vintage.self,
    VintageWarm.self,
    // Blurs.
    BoxBlur.self,
    EdgePreservingSmooth.self,
    GaussianBlur.self,
    MotionBlur.self,
    ZoomBlur.self,
    // Sharpening.
    SharpenAdaptive.self,
    SharpenLuminance.self,
    UnsharpMask.self,
    // Stylizing.
    Bloom.self,
    Cartoon.self,
    Convolution3X3.self,
    Convolution5X5.self,
    ConvolutionRGB3X3.self,
    Crystallize.self,
    DotScreen.self,
    Edges.self,
    Gloom.self,
    Median.self,
    NoiseReduction.self,
    Pixellate.self,
    Posterize.self,
    Sketch.self,
    // Distortions.
    BumpDistortion.self,
    HoleDistortion.self,
    PinchDistortion.self,
    TwirlDistortion.self,
    // Geometry.
    AffineTransform.self,
    Crop.self,
    Orient.self,
    Scale.self,
    // Compositing.
    BlendWithMask.self,
    LumaKey.self,
    MultiplyCompositing.self,
    ScreenBlendMode.self,
    SourceOverCompositing.self,
    // Analyses.
    BrightnessStatistics.self,
    Histogram.self,
    MotionDetection.self,
  ]
}
