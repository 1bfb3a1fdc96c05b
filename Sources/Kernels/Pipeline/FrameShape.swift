/// The orientation and size of a pipeline's results, applied after all stages. A caller requests
/// it, in addition to a ``FrameEncoding``.
public struct FrameShape: Sendable, Hashable {
  /// The rotation and mirroring of the pixels.
  public var orientation: Orientation
  /// The width after the rotation, in pixels; `nil` keeps the aspect ratio with ``height``, or the
  /// picture's width if both are `nil`.
  public var width: Int?
  /// The height after the rotation, in pixels; `nil` as for ``width``.
  public var height: Int?
  /// The treatment of a different aspect ratio: `fit` adds transparent or black bars, `fill` crops
  /// both sides, `stretch` distorts.
  public var fit: PictureFit

  /// The filter name of the passes that apply the shape.
  package static let name = "output"

  /// Creates a shape; by default frames do not change.
  public init(
    orientation: Orientation = .upright, width: Int? = nil, height: Int? = nil,
    fit: PictureFit = .fit
  ) {
    self.orientation = orientation
    self.width = width
    self.height = height
    self.fit = fit
  }

  /// Whether the shape leaves frames unchanged.
  public var isAny: Bool {
    self.orientation == .upright && self.width == nil && self.height == nil
  }

  /// The size of results for frames of a size. Sides are rounded and limited to 1 ...
  /// ``FrameLayout/maxDimension``.
  public func size(of size: FrameSize) -> FrameSize {
    let isTurned = !self.orientation.quarterTurns.isMultiple(of: 2)
    let own = isTurned ? FrameSize(width: size.height, height: size.width) : size
    func proportional(_ side: Int, _ own: Int, _ other: Int) -> Int {
      Self.limited(Double(side) * Double(own) / Double(other))
    }
    return switch (self.width, self.height) {
    case (nil, nil): own
    case (let width?, nil):
      FrameSize(
        width: Self.limited(Double(width)), height: proportional(width, own.height, own.width))
    case (nil, let height?):
      FrameSize(
        width: proportional(height, own.width, own.height), height: Self.limited(Double(height)))
    case (let width?, let height?):
      FrameSize(width: Self.limited(Double(width)), height: Self.limited(Double(height)))
    }
  }

  static func limited(_ side: Double) -> Int {
    Int(min(max(side.rounded(), 1), Double(FrameLayout.maxDimension)))
  }
}

/// The fit of a picture into a rectangle of another aspect ratio.
public enum PictureFit: String, Sendable, Hashable, CaseIterable {
  /// The whole picture, as large as fits. It may not fill the rectangle.
  case fit
  /// The picture fills the rectangle; both sides are cropped.
  case fill
  /// The picture takes the rectangle's aspect ratio.
  case stretch
}
