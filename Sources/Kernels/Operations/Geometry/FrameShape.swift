/// What frames are brought to after everything else: turned, and fitted into a size. What somebody
/// asks the results of a pipeline to be, beside their ``FrameEncoding``.
public struct FrameShape: Sendable, Hashable {
  /// How the pixels are turned and mirrored; upright leaves them.
  public var orientation: Orientation
  /// The width after that, in pixels; `nil` follows from the height and the picture's shape, or, if
  /// that is `nil` too, is the picture's own.
  public var width: Int?
  /// The height after that, in pixels; `nil` as for ``width``.
  public var height: Int?
  /// What gives way where a size of another shape is stated: `fit` fills up with bars, transparent
  /// or black, `fill` cuts off on both sides, `stretch` distorts.
  public var fit: PictureFit

  /// What stands for a filter's name in the passes that shape.
  package static let name = "output"

  /// States a shape; by default what comes in goes out.
  public init(
    orientation: Orientation = .upright, width: Int? = nil, height: Int? = nil,
    fit: PictureFit = .fit
  ) {
    self.orientation = orientation
    self.width = width
    self.height = height
    self.fit = fit
  }

  /// Whether frames of every geometry stay as they are.
  public var isAny: Bool {
    self.orientation == .upright && self.width == nil && self.height == nil
  }

  /// The size in which frames of a size leave. Sides are rounded, and lie in 1 ...
  /// ``FrameLayout/maxDimension``: one that follows from the other is cut to that.
  public func size(of size: FrameSize) -> FrameSize {
    let isTurned = !self.orientation.quarterTurns.isMultiple(of: 2)
    let own = isTurned ? FrameSize(width: size.height, height: size.width) : size
    func follow(_ side: Int, _ own: Int, _ other: Int) -> Int {
      Self.limited(Double(side) * Double(own) / Double(other))
    }
    return switch (self.width, self.height) {
    case (nil, nil): own
    case (let width?, nil):
      FrameSize(
        width: Self.limited(Double(width)), height: follow(width, own.height, own.width))
    case (nil, let height?):
      FrameSize(
        width: follow(height, own.width, own.height), height: Self.limited(Double(height)))
    case (let width?, let height?):
      FrameSize(width: Self.limited(Double(width)), height: Self.limited(Double(height)))
    }
  }

  /// What is done to frames of a geometry; nothing if they have the shape.
  ///
  /// Scaling is that of the filter `scale`. Bars are even, so that chroma stays with its pixels.
  package func nodes(for geometry: FrameGeometry) -> [Node] {
    let turned = self.orientation == .upright ? [] : [Node.orient(self.orientation)]
    let target = self.size(of: geometry.size)
    let own = FrameShape(orientation: self.orientation).size(of: geometry.size)
    guard own != target else { return turned }
    let whole = (width: Double(own.width), height: Double(own.height))
    let across = Double(target.width) / whole.width
    let down = Double(target.height) / whole.height
    // One side follows from the other: there is no other shape to fit into.
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
      // What is not scaled is cut between pixels, not through them.
      if factor == 1 { origin = (origin.x.rounded(.down), origin.y.rounded(.down)) }
      return turned + [.resample(from: origin, extent: extent, to: target)]
    case .fit:
      let factor = min(across, down)
      let inner = FrameSize(
        width: min(Self.limited(whole.width * factor), target.width),
        height: min(Self.limited(whole.height * factor), target.height))
      let scaled = inner == own ? [] : [Node.resample(from: (0, 0), extent: whole, to: inner)]
      return turned + scaled + (inner == target ? [] : [.bars(around: inner, to: target)])
    }
  }

  private static func limited(_ side: Double) -> Int {
    Int(min(max(side.rounded(), 1), Double(FrameLayout.maxDimension)))
  }
}

extension Node {
  /// The picture in the middle of a larger one that is empty elsewhere.
  fileprivate static func bars(around inner: FrameSize, to outer: FrameSize) -> Node {
    let (across, down) = (outer.width - inner.width, outer.height - inner.height)
    let (left, top) = (across / 4 * 2, down / 4 * 2)
    return Node(
      .neighborhood(
        MarginOperation(left: left, top: top, right: across - left, bottom: down - top)))
  }
}
