/// Reads of the picture and of further images.
extension KernelCompiler {
  /// The straight colour of the pixel.
  var color: Value {
    mutating get {
      let channels = (0 ..< 4).map { self.graph.input(.channel($0)) }
      if !self.isNeighborhood, self.setting.isOpaque {
        return Value(type: .vector(4), nodes: channels.prefix(3) + [self.graph.constant(1)])
      }
      return self.isNeighborhood
        ? self.straight(channels, isOpaque: self.setting.isOpaque)
        : Value(type: .vector(4), nodes: channels)
    }
  }

  /// Returns the number of an image, from 0; `nil` for another name.
  func image(named name: String) -> Int? {
    self.syntax.images.firstIndex { $0.name == name }
  }

  /// Returns the straight colour of an image at the pixel.
  mutating func pixel(ofImage image: Int) -> Value {
    self.straight(
      (0 ..< 4).map { self.graph.input(.image(image, channel: $0)) }, isOpaque: false)
  }

  /// Compiles `sample` or `sampleAt`: the straight colour at a distance or a position. Between
  /// pixels it is interpolated; beyond the edges it is the colour at the edge.
  mutating func sample(
    _ arguments: [KernelExpression], isAbsolute: Bool, at offset: Int
  ) throws(KernelTextError) -> Value {
    var arguments = arguments[...]
    var image: Int?
    if case .name(let name)? = arguments.first?.kind, let index = self.image(named: name) {
      image = index
      arguments.removeFirst()
    }
    var nodes: [KernelGraph.Index] = []
    for argument in arguments {
      let value = try self.value(of: argument)
      guard value.type.isNumeric else {
        throw self.error("sample takes numbers, not a \(value.type)", at: argument.offset)
      }
      nodes += value.nodes
    }
    guard nodes.count == 2 else {
      throw self.error(
        isAbsolute
          ? "sampleAt takes two numbers, the position in pixels from the top left"
          : "sample takes two numbers, the offset to the right and down in pixels", at: offset)
    }
    if !isAbsolute {
      if let image, nodes.allSatisfy({ self.graph.constantValue($0) == 0 }) {
        return self.pixel(ofImage: image)
      }
      if image == nil, nodes.allSatisfy(self.isNear) { return self.neighbor(nodes[0], nodes[1]) }
      nodes = zip(self.position, nodes).map { self.graph.apply(.add, $0, $1) }
    }
    let picture = image.map { $0 + 1 } ?? 0
    return self.straight(
      self.graph.read(picture, nodes[0], nodes[1]),
      isOpaque: image == nil && self.setting.isOpaque)
  }

  /// Whether an offset is the same for all pixels, and within the rows around a pixel.
  private func isNear(_ offset: KernelGraph.Index) -> Bool {
    self.graph.variability[offset] <= .plan
      && self.graph.magnitudes[offset] <= Double(KernelText.maxReach)
  }

  /// Returns the straight colour at a constant offset.
  private mutating func neighbor(_ x: KernelGraph.Index, _ y: KernelGraph.Index) -> Value {
    let (left, right) = self.taps(x)
    let (upper, lower) = self.taps(y)
    let channels = (0 ..< 4).map { channel in
      func row(_ y: Int) -> KernelGraph.Index {
        let first = self.graph.neighbor(x: left, y: y, channel: channel)
        guard let right else { return first }
        return self.graph.apply(
          .mix, first, self.graph.neighbor(x: right.position, y: y, channel: channel),
          right.weight)
      }
      guard let lower else { return row(upper) }
      return self.graph.apply(.mix, row(upper), row(lower.position), lower.weight)
    }
    return self.straight(channels, isOpaque: self.setting.isOpaque)
  }

  /// Returns the colour of premultiplied channels, divided by alpha.
  private mutating func straight(_ channels: [KernelGraph.Index], isOpaque: Bool) -> Value {
    if isOpaque {
      return Value(type: .vector(4), nodes: channels.prefix(3) + [self.graph.constant(1)])
    }
    let zero = self.graph.constant(0)
    let inverse = self.graph.apply(
      .select, self.graph.apply(.less, zero, channels[3]),
      self.graph.apply(.divide, self.graph.constant(1), channels[3]), zero)
    let color = channels.prefix(3).map { self.graph.apply(.multiply, $0, inverse) }
    return Value(type: .vector(4), nodes: color + [channels[3]])
  }

  /// The positions that are read for an offset along an axis, and the weight of the second.
  private typealias Taps = (
    first: Int, second: (position: Int, weight: KernelGraph.Index)?
  )

  private mutating func taps(_ offset: KernelGraph.Index) -> Taps {
    guard let number = self.graph.constantValue(offset) else {
      // Positions beyond the reach replace unknown ones, a different position per offset.
      let number = self.unknownOffsets[[offset], default: self.unknownOffsets.count]
      self.unknownOffsets[[offset]] = number
      let first = KernelText.maxReach + 1 + 2 * number
      return (first, (first + 1, self.graph.apply(.fract, offset)))
    }
    // Offsets of less than 1/256 pixel are not seen.
    let rounded = (number * 256).rounded() / 256
    let first = rounded.rounded(.down)
    guard rounded > first else { return (Int(first), nil) }
    return (Int(first), (Int(first) + 1, self.graph.constant(rounded - first)))
  }
}
