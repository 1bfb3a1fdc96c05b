import SidelightKernels

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Milliseconds of the median of several runs.
func median(_ runs: Int, _ body: (Int) -> Void) -> Double {
  for index in 0 ..< 5 { body(index) }
  let times = (0 ..< runs).map { index in
    Double(ContinuousClock().measure { body(index) }.components.attoseconds) / 1e15
  }
  return times.sorted()[runs / 2]
}

func fixed(_ value: Double) -> String {
  let thousandths = Int((value * 1000).rounded())
  let fraction = String(thousandths % 1000)
  return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
}

func column(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(1, width - text.count))
}

let size = FrameSize(width: 1920, height: 1080)
let pool = BufferPool(maxIdleBytes: 1 << 30)

func makeFrame(_ format: PixelFormat, _ seed: Int) throws -> Frame {
  var frame = try pool.makeFrame(
    FrameGeometry(format: format, size: size, color: ColorDescription(alpha: .opaque)))
  for plane in 0 ..< format.planeCount {
    for y in 0 ..< format.rowCount(plane: plane, height: size.height) {
      frame.withMutableRow(y, plane: plane) { row in
        for x in 0 ..< row.byteCount {
          row.storeBytes(
            of: UInt8(truncatingIfNeeded: (x * 7 + y * 3 + seed) ^ (x >> 3)), toByteOffset: x,
            as: UInt8.self)
        }
      }
    }
  }
  return frame.finish()
}

let bytes = 1920 * 1080 * 4
let source = UnsafeMutableRawPointer.allocate(byteCount: bytes * 24, alignment: 64)
let target = UnsafeMutableRawPointer.allocate(byteCount: bytes * 24, alignment: 64)
memset(source, 1, bytes * 24)
memset(target, 2, bytes * 24)
let hotCopy = median(101) { _ in memcpy(target, source, bytes) }
let coldCopy = median(101) { index in
  memcpy(target + bytes * (index % 24), source + bytes * (index % 24), bytes)
}
print("memcpy of a BGRA frame: hot \(fixed(hotCopy)) ms, cold \(fixed(coldCopy)) ms")
source.deallocate()
target.deallocate()

let single = ComputePool(threadCount: 1)
let all = ComputePool()
print(
  column("work", 26) + column("format", 8) + column("1T hot", 8) + column("1T cold", 9)
    + column("\(all.threadCount)T hot", 8) + column("hot/memcpy", 12) + "cold/memcpy")
let chosen = CommandLine.arguments.dropFirst()
for workload in Workload.all
where chosen.isEmpty || chosen.contains(where: { workload.name.contains($0) }) {
  let ring = try (0 ..< 24).map { try makeFrame(workload.format, $0) }
  let plan = try FilterCatalogue.builtIn.resolve(workload.pipeline).plan(for: ring[0].geometry)
  func time(_ compute: ComputePool, ring count: Int) async throws -> Double {
    try await Timing(plan: plan, frames: Array(ring.prefix(count)), pool: pool).run(on: compute)
  }
  let hot = try await time(single, ring: 1)
  let cold = try await time(single, ring: 24)
  let many = try await time(all, ring: 1)
  print(
    column(workload.name, 26) + column(workload.format.rawValue, 8) + column(fixed(hot), 8)
      + column(fixed(cold), 9) + column(fixed(many), 8) + column(fixed(hot / hotCopy), 12)
      + fixed(cold / coldCopy))
}
let statistics = pool.statistics
let rate = Double(statistics.hits) / Double(statistics.hits + statistics.misses)
print("pool: \(fixed(rate * 100)) % of buffers reused")
