extension FrameShape {
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
