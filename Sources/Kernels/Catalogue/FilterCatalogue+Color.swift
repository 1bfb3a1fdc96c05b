extension FilterCatalogue {
  /// Adds the colour filters and the effects that work pixel by pixel.
  mutating func registerColorFilters() {
    self.register(ColorCube.self)
    self.register(ColorMatrixFilter.self)
    self.register(DotScreen.self)
    self.register(ExposureAdjust.self)
    self.register(GammaAdjust.self)
    self.register(Glow.self)
    self.register(Grain.self)
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
    self.register(TemperatureAndTint.self)
    self.register(Vibrance.self)
    self.register(VignetteEffect.self)
    self.register(Vintage.self)
    self.register(VintageWarm.self)
    self.register(WhitePointAdjust.self)
  }
}
