public import SidelightKernels

/// The shape in which pictures come back; see `OutputSpec` of the contract. It holds for pictures that
/// are made: those that pass through come back as they were sent.
public struct OutputOptions: Sendable, Hashable {
  /// How pictures travel back.
  public enum Format: Sendable, Hashable {
    /// As samples.
    case raw(PixelFormat)
    /// As JPEG files.
    case jpeg
  }

  /// - `format` (default: as the picture was sent): how it comes back.
  public var format: Format?
  /// - `width` (pixels, optional, range: 1-16384): none: the picture's own, or by the height.
  public var width: Int?
  /// - `height` (pixels, optional, range: 1-16384): none: the picture's own, or by the width.
  public var height: Int?
  /// - `fit` (default: fit, between bars): what gives way where the shapes differ.
  public var fit: PictureFit
  /// - `isUpright` (default: false): whether rotation and mirroring are done to the pixels.
  public var isUpright: Bool
  /// - `jpegQuality` (percent, optional, range: 1-100, default: 80): how JPEGs are written.
  public var jpegQuality: Int?

  /// States a shape; by default that of the input.
  public init(
    format: Format? = nil, width: Int? = nil, height: Int? = nil, fit: PictureFit = .fit,
    isUpright: Bool = false, jpegQuality: Int? = nil
  ) {
    self.format = format
    self.width = width
    self.height = height
    self.fit = fit
    self.isUpright = isUpright
    self.jpegQuality = jpegQuality
  }
}
