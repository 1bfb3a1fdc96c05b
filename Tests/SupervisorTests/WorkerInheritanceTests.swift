import SidelightSupervisor
import Testing

@Suite struct WorkerInheritanceTests {
  @Test func `a worker reads the data that the supervisor writes`() throws {
    let inheritance = WorkerInheritance(
      index: 1, count: 2, starts: 3, control: 7,
      sockets: [
        .init(address: "127.0.0.1:50051", descriptor: 5),
        .init(address: "unix:/a path/with \"quotes\" = and ä", descriptor: 6),
      ])
    #expect(try WorkerInheritance(text: inheritance.text) == inheritance)
    #expect(!inheritance.text.contains("\n"))
  }

  @Test(arguments: ["", "1", "{}", "yes", #"{"index":"0"}"#])
  func `a process without a supervisor is refused`(text: String) {
    #expect(throws: WorkerSetupError.self) { try WorkerInheritance(text: text) }
  }

  @Test func `exit codes follow the shell's convention`() {
    #expect(WorkerEnd(status: 0) == .exited(0))
    #expect(WorkerEnd(status: 64 << 8) == .exited(64))
    #expect(WorkerEnd(status: 11) == .signalled(11))
    // With a core dump.
    #expect(WorkerEnd(status: 11 | 0x80) == .signalled(11))
    #expect(WorkerEnd.signalled(11).exitCode == 139)
    #expect(WorkerEnd.exited(64).exitCode == 64)
    #expect("\(WorkerEnd.signalled(11))" == "SIGSEGV")
    #expect("\(WorkerEnd.exited(64))" == "exit status 64")
  }
}
