import Foundation
import SidelightKernels
import SidelightTransport

/// The processors that a process may use by its affinity and its cgroups' cpusets, and the
/// processor time that its cgroups' quotas allow.
///
/// Reads cgroups of version 1 and 2, and both at once (Linux documentation,
/// `admin-guide/cgroup-v2.rst` and `scheduler/sched-bwc.rst`). A limit of an outer group holds for
/// its inner groups, so every group up to the root of the mounted hierarchy counts. In a container
/// that root is usually the container's own group.
package struct AvailableProcessors: Sendable, Hashable {
  /// The number of processors on which threads may run, at least 1.
  package var count: Int
  /// The processor time per elapsed time that the quota allows, such as 1.5, if any.
  package var quota: Double?

  package init(count: Int, quota: Double? = nil) {
    self.count = max(1, count)
    self.quota = quota
  }

  /// Reads the limits of this process.
  ///
  /// - Parameters:
  ///   - root: The folder in which `/proc` and the mounted cgroups are; another one for tests.
  ///   - allowed: The number of processors on which the process may run, without cgroups.
  package init(root: String = "/", allowed: Int = ComputePool.processorCount) {
    let files = FileTree(root: root)
    let memberships = files.lines("/proc/self/cgroup").compactMap(Membership.init)
    var count = allowed
    var quota: Double?
    for mount in files.lines("/proc/self/mountinfo").compactMap(CgroupMount.init) {
      guard let membership = memberships.first(where: { $0.belongs(to: mount) }) else { continue }
      // Other limits of outer groups are part of the innermost group's effective set.
      let groups = mount.groups(of: membership.path)
      if let set = groups.lazy.compactMap({ mount.processorSet(in: $0, files) }).first {
        count = min(count, set)
      }
      for limit in groups.compactMap({ mount.quota(in: $0, files) }) {
        quota = min(quota ?? limit, limit)
      }
    }
    self.init(count: count, quota: quota)
  }

  /// The limits of this process when it started.
  package static let ofThisProcess = AvailableProcessors()
}

/// The files below a folder.
private struct FileTree {
  var root: String

  /// Returns the lines of a file, or an empty array if it cannot be read.
  func lines(_ path: String) -> [Substring] {
    let data = FileManager.default.contents(atPath: self.root + path) ?? Data()
    return String(decoding: data, as: UTF8.self).split(separator: "\n")
  }
}

/// The group of a process in one hierarchy: a line of `/proc/self/cgroup`.
private struct Membership {
  /// The controllers of a hierarchy of version 1, or empty for version 2.
  var controllers: [Substring]
  var path: String

  init?(_ line: Substring) {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[2].hasPrefix("/") else { return nil }
    self.controllers = fields[1].split(separator: ",")
    self.path = String(fields[2])
  }

  func belongs(to mount: CgroupMount) -> Bool {
    switch mount.version {
    case .two: self.controllers.isEmpty
    case .one: self.controllers.contains { mount.options.contains($0) }
    }
  }
}

/// A mounted hierarchy of cgroups: a line of `/proc/self/mountinfo`.
private struct CgroupMount {
  enum Version {
    case one, two
  }

  var version: Version
  /// The mounted group.
  var root: String
  /// The folder at which it is mounted.
  var folder: String
  /// The options of the file system, among them the controllers of version 1.
  var options: [Substring]

  /// - Returns: `nil` if the line is of another file system, or of controllers of version 1 that do
  ///   not limit processors.
  init?(_ line: Substring) {
    let fields = line.split(separator: " ")
    guard let separator = fields.firstIndex(of: "-"), separator >= 6, fields.count > separator + 3
    else { return nil }
    self.options = fields[separator + 3].split(separator: ",")
    switch fields[separator + 1] {
    case "cgroup2": self.version = .two
    case "cgroup" where self.options.contains("cpu") || self.options.contains("cpuset"):
      self.version = .one
    default: return nil
    }
    self.root = Self.unescaped(fields[3])
    self.folder = Self.unescaped(fields[4])
  }

  /// Returns the folders of a group and of the groups around it that are mounted; the innermost
  /// first.
  func groups(of path: String) -> [String] {
    // Without a namespace a container sees the path on the host, which its mount's root begins. A
    // path outside the mount (`/../..`) leaves the mount's root.
    var names = path.split(separator: "/")
    let rootNames = self.root.split(separator: "/")
    if names.starts(with: rootNames) { names.removeFirst(rootNames.count) } else { names = [] }
    if names.contains("..") { names = [] }
    return (0 ... names.count).reversed().map { depth in
      ([self.folder] + names.prefix(depth).map(String.init)).joined(separator: "/")
    }
  }

  /// Returns the processor time per elapsed time that a group's quota allows, if any.
  func quota(in folder: String, _ files: FileTree) -> Double? {
    let numbers: [Substring] =
      switch self.version {
      case .two: files.lines(folder + "/cpu.max").first?.split(separator: " ") ?? []
      case .one:
        ["cfs_quota_us", "cfs_period_us"].compactMap {
          files.lines(folder + "/cpu." + $0).first
        }
      }
    // Without a limit the quota is `max` (version 2) or -1 (version 1).
    guard numbers.count == 2, let quota = Double(numbers[0]), let period = Double(numbers[1]),
      quota > 0, period > 0
    else { return nil }
    return quota / period
  }

  /// Returns the number of processors that a group may use, if it states one.
  func processorSet(in folder: String, _ files: FileTree) -> Int? {
    let names =
      switch self.version {
      case .two: ["cpuset.cpus.effective"]
      case .one: ["cpuset.effective_cpus", "cpuset.cpus"]
      }
    let count = names.lazy.compactMap { files.lines(folder + "/" + $0).first }.first
      .map(Self.processorCount)
    return count.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns the number of processors in a list such as `0-3,8`, or 0 for any other text.
  private static func processorCount(_ list: Substring) -> Int {
    var count = 0
    for range in list.split(separator: ",") {
      let ends = range.split(separator: "-").compactMap { Int($0) }
      guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last,
        last < 1 << 20
      else { return 0 }
      count += last - first + 1
    }
    return count
  }

  /// Returns a path with its octal escapes (`\040` is a space) replaced.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(3), as: UTF8.self)
      if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let code = UInt8(digits, radix: 8) {
        bytes.append(code)
        rest.removeFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The numbers of threads of a server, for the processors that it may use.
package struct ThreadCounts: Sendable, Hashable {
  /// The threads that filter.
  package var compute: Int
  /// The event loops, which carry connections.
  package var eventLoops: Int

  package init(compute: Int, eventLoops: Int) {
    self.compute = compute
    self.eventLoops = eventLoops
  }

  /// Chooses the numbers (decision 49 has the measurements).
  ///
  /// A compute thread per processor. A quota is rounded down: threads that together use more than
  /// it are stopped for the rest of the period of usually 100 ms, and the event loops with them.
  ///
  /// An event loop per processor, but four on two or three processors: a small message waits for
  /// the large ones of its loop, and with four loops the system runs another loop meanwhile. On one
  /// processor more loops only cost changes of thread. A quota is rounded up, because event loops
  /// are idle most of the time.
  package init(for processors: AvailableProcessors) {
    let quota = min(processors.quota ?? .infinity, Double(processors.count))
    let rounded = max(1, Int(quota.rounded(.up)))
    self.init(compute: max(1, Int(quota)), eventLoops: rounded == 1 ? 1 : max(4, rounded))
  }

  /// The numbers for this process.
  package static let ofThisProcess = ThreadCounts(for: .ofThisProcess)

  /// Sets the number of event loops that the process shares. Must be called once, before they are
  /// used.
  ///
  /// - Parameter workers: The number of processes that share the processors.
  package func apply(sharedAmong workers: Int = 1) {
    EventLoops.setSharedCount(max(1, self.eventLoops / workers))
  }
}
