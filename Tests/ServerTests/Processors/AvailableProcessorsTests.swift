import Foundation
import SidelightServer
import Testing

/// Processors that cgroups limit, read from trees of files as Linux shows them.
@Suite struct AvailableProcessorsTests {
  /// Reads a tree of files.
  ///
  /// - Parameters:
  ///   - files: The contents by path.
  ///   - allowed: The processors on which the process may run.
  static func read(_ files: [String: String], allowed: Int = 8) throws -> AvailableProcessors {
    let root = FileManager.default.temporaryDirectory
      .appending(path: "sidelight-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    for (path, contents) in files {
      let file = root.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(contents.utf8).write(to: file)
    }
    return AvailableProcessors(root: root.path(), allowed: allowed)
  }

  /// A mount of version 2 at the usual place.
  static let mount2 = """
    22 1 0:20 / / rw,relatime - ext4 /dev/vda1 rw
    41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate

    """
  /// Mounts of version 1, and version 2 without controllers next to them.
  static let mounts1 = """
    31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
    32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
    34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
    35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
    41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw

    """

  @Test func `without cgroups the processors on which the process may run count`() throws {
    #expect(try Self.read([:]) == AvailableProcessors(count: 8))
    #expect(try Self.read(["proc/self/cgroup": "0::/\n"]) == AvailableProcessors(count: 8))
  }

  @Test(
    arguments: [
      ("150000 100000", 1.5), ("50000 100000", 0.5), ("400000 50000", 8), ("max 100000", nil),
      ("", nil), ("0 100000", nil), ("100000", nil), ("100000 0", nil), ("nan nan", nil),
    ] as [(String, Double?)])
  func `a quota of version 2 may be a fraction, and nonsense is none`(
    contents: String, quota: Double?
  ) throws {
    let read = try Self.read([
      "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": Self.mount2,
      "sys/fs/cgroup/cpu.max": contents + "\n",
    ])
    #expect(read == AvailableProcessors(count: 8, quota: quota))
  }

  @Test func `the smallest quota of nested groups holds`() throws {
    var files = [
      "proc/self/cgroup": "0::/kubepods/burstable/pod1\n", "proc/self/mountinfo": Self.mount2,
      "sys/fs/cgroup/kubepods/cpu.max": "300000 100000\n",
      "sys/fs/cgroup/kubepods/burstable/cpu.max": "max 100000\n",
      "sys/fs/cgroup/kubepods/burstable/pod1/cpu.max": "600000 100000\n",
      "sys/fs/cgroup/kubepods/burstable/pod2/cpu.max": "100000 100000\n",
    ]
    #expect(try Self.read(files).quota == 3)
    files["sys/fs/cgroup/kubepods/burstable/cpu.max"] = "250000 100000\n"
    #expect(try Self.read(files).quota == 2.5)
  }

  @Test func `a cpuset of version 2 counts, that of the innermost group first`() throws {
    var files = [
      "proc/self/cgroup": "0::/service\n", "proc/self/mountinfo": Self.mount2,
      "sys/fs/cgroup/cpuset.cpus.effective": "0-7\n",
      "sys/fs/cgroup/service/cpuset.cpus.effective": "0-1,4\n",
    ]
    #expect(try Self.read(files) == AvailableProcessors(count: 3))
    #expect(try Self.read(files, allowed: 2).count == 2, "the affinity is smaller")
    files["sys/fs/cgroup/service/cpuset.cpus.effective"] = "\n"
    #expect(try Self.read(files).count == 8, "an empty set says nothing")
  }

  @Test func `version 1 has a quota and a cpuset in separate hierarchies`() throws {
    let read = try Self.read([
      "proc/self/cgroup": """
      9:cpuset:/docker/a
      2:cpu,cpuacct:/docker/b
      4:memory:/docker/c
      0::/elsewhere

      """,
      "proc/self/mountinfo": Self.mounts1,
      "sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us": "125000\n",
      "sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us": "50000\n",
      "sys/fs/cgroup/cpuset/docker/a/cpuset.cpus": "2-5\n",
    ])
    #expect(read == AvailableProcessors(count: 4, quota: 2.5))
  }

  @Test func `a container sees its own group as the mount's root, with or without a namespace`()
    throws
  {
    for (path, mounted) in [("/docker/a", "/docker/a"), ("/", "/"), ("/../..", "/"), ("/x", "/y")] {
      let read = try Self.read([
        "proc/self/cgroup": "2:cpu:\(path)\n",
        "proc/self/mountinfo":
          "32 31 0:29 \(mounted) /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
      ])
      #expect(read.quota == 0.5, "\(path) in \(mounted)")
    }
  }

  @Test func `a mount point may have a space`() throws {
    let read = try Self.read([
      "proc/self/cgroup": "0::/\n",
      "proc/self/mountinfo": "41 31 0:38 / /my\\040groups rw - cgroup2 cgroup2 rw\n",
      "my groups/cpu.max": "100000 100000\n",
    ])
    #expect(read.quota == 1)
  }

  @Test func `this process may use at least one processor`() {
    #expect(AvailableProcessors.ofThisProcess.count >= 1)
    #expect(AvailableProcessors.ofThisProcess.quota ?? 1 > 0)
  }
}
