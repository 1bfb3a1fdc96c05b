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

  /// Returns the nodes that apply the shape to frames of a geometry; an empty array if they already
  /// have it.
  ///
  /// The scaling is the filter `scale`'s. Bars are of even width, to keep chroma aligned with its
  /// pixels.
  package func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let turned = self.orientation == .upright ? [] : [FilterNode.orient(self.orientation)]
    let target = self.size(of: geometry.size)
    let own = FrameShape(orientation: self.orientation).size(of: geometry.size)
    guard own != target else { return turned }
    let whole = (width: Double(own.width), height: Double(own.height))
    let across = Double(target.width) / whole.width
    let down = Double(target.height) / whole.height
    // One side follows from the other, which keeps the aspect ratio.
    switch self.width == nil || self.height == nil ? .stretch : self.fit {
    case .stretch:
      return turned + [.resample(from: (0, 0), extent: whole, to: target)]
    case .fill:
      let factor = max(across, down)
      let extent = (
        width: min(Double(target.width) / factor, whole.width),
        height: min(Double(target.height) / factor, whole.height)
      )
      var origin = (
        x: (whole.width - extent.width) / 2, y: (whole.height - extent.height) / 2
      )
      // Without scaling, the crop is aligned to pixels.
      if factor == 1 { origin = (origin.x.rounded(.down), origin.y.rounded(.down)) }
      return turned + [.resample(from: origin, extent: extent, to: target)]
    case .fit:
      let factor = min(across, down)
      let inner = FrameSize(
        width: min(Self.limited(whole.width * factor), target.width),
        height: min(Self.limited(whole.height * factor), target.height))
      let scaled = inner == own ? [] : [FilterNode.resample(from: (0, 0), extent: whole, to: inner)]
      return turned + scaled + (inner == target ? [] : [.bars(around: inner, to: target)])
    }
  }

  private static func limited(_ side: Double) -> Int {
    Int(min(max(side.rounded(), 1), Double(FrameLayout.maxDimension)))
  }
}

extension FilterNode {
  /// Places the picture in the middle of a larger, empty one.
  fileprivate static func bars(around inner: FrameSize, to outer: FrameSize) -> FilterNode {
    let (across, down) = (outer.width - inner.width, outer.height - inner.height)
    let (left, top) = (across / 4 * 2, down / 4 * 2)
    return FilterNode(
      .neighborhood(
        MarginOperation(left: left, top: top, right: across - left, bottom: down - top)))
  }
}
