/// The pixels that neighbourhood filters read beyond the frame's edges.
enum Border: String, Sendable, Hashable, CaseIterable {
  /// The pixels at the edges, which keeps edges from darkening.
  case clamp
  /// Transparent black, the default of Core Image. Black in opaque pictures; their edges darken.
  case transparent

  /// Reads the setting.
  init(_ arguments: Arguments) {
    self = Border(rawValue: arguments.text("border")) ?? .clamp
  }

  /// Returns a filter's nodes with this border.
  ///
  /// Every filter clamps at the edges of its input. For a transparent border the picture is placed
  /// in a larger one with transparent outermost pixels, and the result is cropped to the frame.
  ///
  /// - Parameter nodes: Returns the filter's nodes for pictures in which the frame begins `left`
  ///   pixels from the left and `top` pixels from the top.
  func nodes(
    for geometry: FrameGeometry, _ nodes: (_ left: Int, _ top: Int) -> [FilterNode]
  ) -> [FilterNode] {
    let (left, top) = (Self.margin(geometry.size.width), Self.margin(geometry.size.height))
    guard self == .transparent, left > 0 || top > 0 else { return nodes(0, 0) }
    let inner = nodes(left, top)
    guard !inner.isEmpty else { return [] }
    let size = geometry.size
    return [FilterNode(.neighborhood(MarginOperation(left: left, top: top)))] + inner + [
      .resample(
        from: (Double(left), Double(top)),
        extent: (Double(size.width), Double(size.height)), to: size)
    ]
  }

  /// The number of pixels that are added at both ends: enough for the cells of a reduced picture,
  /// even, and within the limit of pictures.
  private static func margin(_ length: Int) -> Int {
    min(16, (FrameLayout.maxDimension - length) / 4 * 2)
  }

  /// The parameter that ``init(_:)`` reads.
  static let parameter = ParameterDescription(
    "border", .choice(Border.allCases.map(\.rawValue)), default: .text(Border.clamp.rawValue),
    "The pixels beyond the frame: those at its edge, or transparent black (black in opaque "
      + "pictures). A side of more than 16380 pixels has clamped edges.")
}
