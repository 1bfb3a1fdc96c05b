extension FilterCatalogue {
  /// Returns a cheaper variant of a pipeline: the same filters at half the width and height, then
  /// scaled up.
  ///
  /// It is worthwhile if a blur takes most of the time, because the blur removes the detail that
  /// half the resolution loses. Only pipelines that blur, and otherwise have only filters of single
  /// pixels, therefore have a variant.
  ///
  /// - Parameters:
  ///   - pipeline: A pipeline that this catalogue resolved.
  ///   - size: The size of the frames.
  /// - Returns: The variant, whose results have the same size; `nil` if the pipeline has no
  ///   variant.
  public func reduced(_ pipeline: ResolvedPipeline, for size: FrameSize) -> ResolvedPipeline? {
    let half = FrameSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
    var blurs = false
    guard min(size.width, size.height) >= 16,
      let stages = self.halved(pipeline.stages, blurs: &blurs), blurs,
      let down = self.stretch(to: half), let up = self.stretch(to: size)
    else { return nil }
    return ResolvedPipeline(
      items: [down] + stages + [up], workingSpace: pipeline.workingSpace)
  }

  /// Returns the active stages with half the lengths.
  ///
  /// - Parameter blurs: Set to true if a stage blurs.
  /// - Returns: `nil` if a stage doesn't have a variant at half the size.
  private func halved(_ stages: [ResolvedStage], blurs: inout Bool) -> [ResolvedStage]? {
    var result: [ResolvedStage] = []
    for stage in stages where stage.isActive {
      let content: ResolvedStage.Content
      switch stage.content {
      case .filter(let name, let arguments, _):
        guard let entry = self.entry(named: name), entry.description.fidelity != .custom else {
          return nil
        }
        switch (entry.description.reach, entry.description.category) {
        case (.neighborhood, .blur): blurs = true
        case (.pixel, let category) where category != .compositing: break
        default: return nil
        }
        let halved = Self.halved(arguments, entry.description)
        content = .filter(name: name, arguments: halved, value: entry.make(halved))
      case .stages(let inner, let space):
        guard let inner = self.halved(inner, blurs: &blurs) else { return nil }
        content = .stages(inner, in: space)
      }
      result.append(
        ResolvedStage(
          id: stage.id, isActive: true, mix: stage.mix,
          region: stage.region.map {
            Region(
              origin: Self.halved($0.origin), width: Self.halved($0.width),
              height: Self.halved($0.height))
          },
          failurePolicy: stage.failurePolicy, content: content))
    }
    return result
  }

  private func stretch(to size: FrameSize) -> ResolvedStage? {
    let stage = Stage.filter(
      "scale",
      [
        "width": .number(Double(size.width)), "height": .number(Double(size.height)),
        "mode": .text(PictureFit.stretch.rawValue),
      ])
    var catalogue = FilterCatalogue()
    catalogue.register(Scale.self)
    return try? catalogue.resolve([stage]).stages.first
  }

  private static func halved(_ arguments: Arguments, _ description: FilterDescription) -> Arguments
  {
    var values = arguments.values
    for parameter in description.parameters {
      switch values[parameter.name] {
      case .length(let length): values[parameter.name] = .length(Self.halved(length))
      case .point(let point): values[parameter.name] = .point(Self.halved(point))
      case .number(let number) where parameter.unit == .pixels:
        values[parameter.name] = .number(number / 2)
      default: break
      }
    }
    return Arguments(values: values, assets: arguments.assets)
  }

  private static func halved(_ point: FramePoint) -> FramePoint {
    FramePoint(x: Self.halved(point.x), y: Self.halved(point.y))
  }

  /// Halves a length in pixels. A relative length follows the frame's size.
  private static func halved(_ length: Length) -> Length {
    length.unit == .pixels ? Length(length.value / 2) : length
  }
}

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
