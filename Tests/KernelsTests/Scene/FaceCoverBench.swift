import SidelightKernels
import SidelightScene
import Testing

/// Runs `faceBlur` and `facePixellate` on frames with a given decision, and computes the cells
/// using their definition.
struct FaceCoverBench {
  static let filters = ["faceBlur", "facePixellate"]

  var bench = TestBench()

  init(threads: Int = 2) {
    self.bench = TestBench(threads: threads)
    let tools = FaceTools(
      finder: { `The scene of a stream`.Finder(truth: { _ in [] }) },
      points: { `The scene of a stream`.Flow(truth: { _ in [] }) })
    self.bench.catalogue.register(FacePrivacyFilter.blurDescription) {
      FacePrivacyFilter($0, style: .blur, tools: tools)
    }
    self.bench.catalogue.register(FacePrivacyFilter.pixellateDescription) {
      FacePrivacyFilter($0, style: .mosaic, tools: tools)
    }
  }

  func plan(
    _ filter: String, _ parameters: [String: ParameterValue] = [:], _ geometry: FrameGeometry
  ) throws -> Plan {
    try self.bench.catalogue.resolve([.filter(filter, parameters)]).plan(for: geometry)
  }

  /// The operation of a filter.
  func operation(
    _ filter: String, _ parameters: [String: ParameterValue] = [:]
  ) throws -> any StagedRequest {
    let geometry = FrameGeometry(format: .gray8, size: FrameSize(width: 160, height: 90))
    return try #require(
      try self.plan(filter, parameters, geometry).sceneStages[0].request as? any StagedRequest)
  }

  /// Runs a filter on a frame. `nil` as the drawing omits the scene.
  func run(
    _ filter: String, _ parameters: [String: ParameterValue] = [:], on frame: Frame,
    _ drawing: (any Sendable)?, map: AffineMap = .identity
  ) async throws -> Frame {
    try await self.bench.executor.run(
      try self.plan(filter, parameters, frame.geometry), on: frame,
      scene: drawing.map { FrameScene(frameMap: map, drawings: [$0]) })
  }

  /// The frame with the mosaic of one region, by its definition, as levels that are not rounded;
  /// `nil` for samples that the region does not cover.
  static func mosaic(
    _ frame: Frame, _ region: CoveredRegion, _ map: AffineMap
  ) -> [[Double?]] {
    struct Cell: Hashable {
      let x, y: Int
    }
    guard let inverse = map.inverse else { return [] }
    let alpha = frame.format.hasAlpha ? frame.color.alpha : .opaque
    let samples = frame.samples
    return PlaneShape.planes(frame.format, frame.size).map { shape in
      let plane = samples[shape.plane]
      func picture(_ x: Int, _ y: Int) -> PicturePoint {
        inverse(
          PicturePoint(
            x: (Double(x) + 0.5) / shape.scale, y: (Double(y) + 0.5) / shape.scale))
      }
      func cell(_ x: Int, _ y: Int) -> Cell {
        let point = picture(x, y)
        let axes = FaceBox(center: PicturePoint(x: 0, y: 0), size: 1, roll: -region.roll)
        let place = axes.point(
          u: 0.5 + point.x - region.center.x, v: 0.5 + point.y - region.center.y)
        return Cell(
          x: Int((place.x / region.cell).rounded(.down)),
          y: Int((place.y / region.cell).rounded(.down)))
      }
      var sums: [Cell: [Double]] = [:]
      for y in 0 ..< shape.height {
        for x in 0 ..< shape.width {
          let first = (y * shape.width + x) * shape.step
          // On black.
          let isWeighed = shape.step == 4 && alpha == .straight
          let opacity = isWeighed ? Double(plane[first + 3]) / 255 : 1
          var sum = sums[cell(x, y)] ?? [0, 0, 0, 0, 0]
          for channel in 0 ..< shape.step {
            sum[channel] += Double(plane[first + channel]) * opacity
          }
          sum[4] += 1
          sums[cell(x, y)] = sum
        }
      }
      return (0 ..< shape.samples * shape.height).map { index in
        let (pixel, channel) = (index / shape.step, index % shape.step)
        let (x, y) = (pixel % shape.width, pixel / shape.width)
        guard region.contains(picture(x, y)), let sum = sums[cell(x, y)] else { return nil }
        return channel < 3 ? sum[channel] / sum[4] : 255
      }
    }
  }

  /// The sum of the squared differences of neighbours along rows and columns of the first plane,
  /// of the pixels for which a condition holds.
  static func detail(
    _ frame: Frame, where isCounted: (PicturePoint) -> Bool = { _ in true }
  ) -> Double {
    let shape = PlaneShape.planes(frame.format, frame.size)[0]
    let samples = frame.samples[0]
    var energy = 0.0
    for y in 0 ..< shape.height - 1 {
      for x in 0 ..< shape.width - 1
      where isCounted(PicturePoint(x: Double(x) + 1, y: Double(y) + 1)) {
        let index = (y * shape.width + x) * shape.step
        for channel in 0 ..< min(shape.step, 3) {
          let value = Double(samples[index + channel])
          let right = Double(samples[index + channel + shape.step]) - value
          let below = Double(samples[index + channel + shape.samples]) - value
          energy += right * right + below * below
        }
      }
    }
    return energy
  }
}
