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
