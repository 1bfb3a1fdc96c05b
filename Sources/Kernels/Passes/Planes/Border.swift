/// What filters of neighbourhoods read beyond the frame's edges.
enum Border: String, Sendable, Hashable, CaseIterable {
  /// The pixels at the edges: no edge goes dark. What the guides' cameras do.
  case clamp
  /// Transparent black, as Core Image does unless told otherwise; black in opaque pictures, whose
  /// edges darken.
  case transparent

  /// Reads the setting.
  init(_ arguments: Arguments) {
    self = Border(rawValue: arguments.text("border")) ?? .clamp
  }

  /// A filter's nodes, so that they read what this says.
  ///
  /// Every filter reads clamped edges; so for a transparent border the picture is laid on a larger
  /// one, whose outermost pixels are transparent, and what was added is cut off at the end.
  ///
  /// - Parameters:
  ///   - geometry: The frames.
  ///   - nodes: The nodes for pictures of a geometry, in which the frame lies so many pixels from the
  ///     left and from the top.
  func nodes(
    for geometry: FrameGeometry, _ nodes: (_ left: Int, _ top: Int) -> [Node]
  ) -> [Node] {
    let (left, top) = (Self.margin(geometry.size.width), Self.margin(geometry.size.height))
    guard self == .transparent, left > 0 || top > 0 else { return nodes(0, 0) }
    let inner = nodes(left, top)
    guard !inner.isEmpty else { return [] }
    let size = geometry.size
    return [Node(.neighborhood(MarginOperation(left: left, top: top)))] + inner + [
      .resample(
        from: (Double(left), Double(top)),
        extent: (Double(size.width), Double(size.height)), to: size)
    ]
  }

  /// How many pixels are added at each end: enough for the cells of a reduced picture, even, and no
  /// more than pictures may have.
  private static func margin(_ length: Int) -> Int {
    min(16, (FrameLayout.maxDimension - length) / 4 * 2)
  }

  /// The parameter that ``init(_:)`` reads.
  static let parameter = ParameterDescription(
    "border", .choice(Border.allCases.map(\.rawValue)), default: .text(Border.clamp.rawValue),
    "What lies beyond the frame: the pixels at its edge, or transparent black (black where a "
      + "picture is opaque). A side longer than 16380 pixels has clamped edges.")
}
