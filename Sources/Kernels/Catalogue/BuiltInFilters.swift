extension FilterCatalogue {
  /// The filters that come with this package.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.registerColorFilters()
    catalogue.registerAreaFilters()
    catalogue.registerCompositingFilters()
    catalogue.registerGeometryFilters()
    catalogue.registerAnalyses()
    return catalogue
  }()
}

extension FilterCatalogue {
  /// Adds the colour filters and the effects that work pixel by pixel.
  mutating func registerColorFilters() {
    self.register(ColorControls.self)
    self.register(ColorCube.self)
    self.register(ColorInvert.self)
    self.register(ColorMatrixFilter.self)
    self.register(DotScreen.self)
    self.register(ExposureAdjust.self)
    self.register(GammaAdjust.self)
    self.register(Glow.self)
    self.register(Grain.self)
    self.register(Grayscale.self)
    self.register(HueAdjust.self)
    self.register(PhotoEffectChrome.self)
    self.register(PhotoEffectFade.self)
    self.register(PhotoEffectInstant.self)
    self.register(PhotoEffectMono.self)
    self.register(PhotoEffectNoir.self)
    self.register(PhotoEffectProcess.self)
    self.register(PhotoEffectTonal.self)
    self.register(PhotoEffectTransfer.self)
    self.register(Posterize.self)
    self.register(RandomGenerator.self)
    self.register(SepiaTone.self)
    self.register(TemperatureAndTint.self)
    self.register(Vibrance.self)
    self.register(Vignette.self)
    self.register(VignetteEffect.self)
    self.register(Vintage.self)
    self.register(VintageWarm.self)
    self.register(WhitePointAdjust.self)
  }
}

extension FilterCatalogue {
  /// Adds the filters that make pixels from others: blurs, sharpening, convolutions, distortions.
  mutating func registerAreaFilters() {
    self.register(Bloom.self)
    self.register(BoxBlur.self)
    self.register(BumpDistortion.self)
    self.register(Convolution3X3.self)
    self.register(Convolution5X5.self)
    self.register(ConvolutionRGB3X3.self)
    self.register(Crystallize.self)
    self.register(Edges.self)
    self.register(GaussianBlur.self)
    self.register(Gloom.self)
    self.register(HoleDistortion.self)
    self.register(Median.self)
    self.register(MotionBlur.self)
    self.register(NoiseReduction.self)
    self.register(PinchDistortion.self)
    self.register(Pixellate.self)
    self.register(SharpenLuminance.self)
    self.register(TwirlDistortion.self)
    self.register(UnsharpMask.self)
    self.register(ZoomBlur.self)
  }
}

extension FilterCatalogue {
  /// Adds the filters that bring a second picture in.
  mutating func registerCompositingFilters() {
    self.register(BlendWithMask.self)
    self.register(MultiplyCompositing.self)
    self.register(Overlay.self)
    self.register(ScreenBlendMode.self)
    self.register(SourceOverCompositing.self)
  }
}

extension FilterCatalogue {
  /// Adds the filters that move pixels to other places, or change the size of frames.
  mutating func registerGeometryFilters() {
    self.register(AffineTransform.self)
    self.register(Crop.self)
    self.register(Orient.self)
    self.register(Scale.self)
  }
}

extension FilterCatalogue {
  /// Adds the analyses, which look at frames and touch nothing.
  mutating func registerAnalyses() {
    self.register(BrightnessStatistics.self)
  }
}
