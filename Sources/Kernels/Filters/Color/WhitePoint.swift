/// The colour of a white light.
struct WhitePoint: Sendable, Hashable {
  /// CIE 1931 XYZ with Y = 1.
  let xyz: SIMD3<Double>

  /// A black body's white, shifted across the locus.
  ///
  /// - Parameters:
  ///   - kelvin: Its temperature; 1667 ... 25000, clamped.
  ///   - tint: The shift in 1/3000 of CIE 1960 v; positive towards magenta.
  init(kelvin: Double, tint: Double) {
    // Kim et al., US patent 7024034: cubic splines in 1/T.
    let t = min(max(kelvin, 1667), 25000)
    let i = 1000 / t
    let x =
      t < 4000
      ? -0.2661239 * i * i * i - 0.2343589 * i * i + 0.8776956 * i + 0.179910
      : -3.0258469 * i * i * i + 2.1070379 * i * i + 0.2226347 * i + 0.240390
    let y =
      t < 2222
      ? -1.1063814 * x * x * x - 1.34811020 * x * x + 2.18555832 * x - 0.20219683
      : t < 4000
        ? -0.9549476 * x * x * x - 1.37418593 * x * x + 2.09137015 * x - 0.16748867
        : 3.0817580 * x * x * x - 5.87338670 * x * x + 3.75112997 * x - 0.37001483
    let denominator = -2 * x + 12 * y + 3
    let u = 4 * x / denominator
    let v = 6 * y / denominator - tint / 3000
    let scale = 2 * u - 8 * v + 4
    let (tintedX, tintedY) = (3 * u / scale, max(2 * v / scale, 0.01))
    self.xyz = [tintedX / tintedY, 1, (1 - tintedX - tintedY) / tintedY]
  }

  /// The Bradford adaptation to another white as a matrix on linear sRGB, row by row.
  func adaptation(to target: WhitePoint) -> (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>) {
    let bradford = Matrix(
      [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296])
    let sRGB = Matrix(
      [0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923],
      [0.0193308, 0.1191948, 0.9505322])
    let gains = bradford(target.xyz) / bradford(self.xyz)
    let scaling = Matrix([gains.x, 0, 0], [0, gains.y, 0], [0, 0, gains.z])
    let whole = sRGB.inverse
      .times(bradford.inverse).times(scaling).times(bradford).times(sRGB)
    return (whole.rows[0], whole.rows[1], whole.rows[2])
  }

  /// A matrix of three rows.
  private struct Matrix {
    let rows: [SIMD3<Double>]

    init(_ rows: SIMD3<Double>...) {
      self.rows = rows
    }

    func callAsFunction(_ vector: SIMD3<Double>) -> SIMD3<Double> {
      SIMD3(
        (self.rows[0] * vector).sum(), (self.rows[1] * vector).sum(),
        (self.rows[2] * vector).sum())
    }

    func times(_ other: Matrix) -> Matrix {
      func row(_ row: SIMD3<Double>) -> SIMD3<Double> {
        other.rows[0] * row.x + other.rows[1] * row.y + other.rows[2] * row.z
      }
      return Matrix(row(self.rows[0]), row(self.rows[1]), row(self.rows[2]))
    }

    var inverse: Matrix {
      func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
      }
      let (a, b, c) = (self.rows[0], self.rows[1], self.rows[2])
      let determinant = (a * cross(b, c)).sum()
      let columns = [
        cross(b, c) / determinant, cross(c, a) / determinant, cross(a, b) / determinant,
      ]
      return Matrix(
        SIMD3(columns[0].x, columns[1].x, columns[2].x),
        SIMD3(columns[0].y, columns[1].y, columns[2].y),
        SIMD3(columns[0].z, columns[1].z, columns[2].z))
    }
  }
}
