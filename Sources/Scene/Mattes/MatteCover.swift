import SidelightKernels

/// The part of a small picture's pixels that the person covers, 0 ... 1: at least the matte's and
/// the guided alpha.
enum MatteCover {
  /// Computes rows.
  ///
  /// - Parameters:
  ///   - band: The rows.
  ///   - guide: The picture and its matte.
  ///   - models: The guided filter's models.
  ///   - edges: The values of the guided matte at the edge.
  ///   - cover: Receives the rows.
  static func run(
    _ band: Range<Int>, _ guide: GuidePlanes, _ models: FloatPlanes, _ edges: MatteEdges,
    to cover: FloatPlanes
  ) {
    let low = Float(edges.low)
    let slope = Float(1 / (edges.high - edges.low))
    for y in band {
      let (red, green, blue) = unsafe (
        guide.row(y, plane: 0), guide.row(y, plane: 1), guide.row(y, plane: 2)
      )
      let matte = unsafe guide.row(y, plane: GuidePlanes.mattePlane)
      let (r, g, b) = unsafe (
        models.row(y, plane: 0), models.row(y, plane: 1), models.row(y, plane: 2)
      )
      let (bias, out) = unsafe (models.row(y, plane: 3), cover.row(y))
      for x in 0 ..< guide.width {
        let sum = unsafe r[x] * red[x] + g[x] * green[x] + b[x] * blue[x] + bias[x]
        let t = min(max((sum * (1 / 255) - low) * slope, 0), 1)
        unsafe out[x] = max(t * t * (3 - 2 * t), matte[x] * (1 / 255))
      }
    }
  }
}
