import SidelightConfiguration
import SidelightVision
import Testing

@Suite struct ModelSettingTests {
  private static let person = "person=matte:/models/person.onnx"

  private static let texts: [(text: String, fields: [String])] = [
    (Self.person, ["person", "matte", "auto", "/models/person.onnx"]),
    ("a=faces@opencv:b.onnx", ["a", "faces", "opencv", "b.onnx"]),
    ("a.b-c_1=landmarks@onnxruntime:x=y:z@1", ["a.b-c_1", "landmarks", "onnxruntime", "x=y:z@1"]),
  ]

  @Test(arguments: Self.texts)
  func `a model has a name, a task, a runtime and a file`(
    text: String, fields: [String]
  ) throws {
    let model = try ConfiguredModel(text)
    #expect([model.name, model.task.rawValue, model.runtime.rawValue, model.file] == fields)
    #expect(model.description == text)
  }

  @Test func `flags, variables and files set the same models`() throws {
    let expected = try [Self.person, "faces=faces@opencv:/models/faces.onnx"]
      .map { text throws in try ConfiguredModel(text) }
    let flags = expected.flatMap { ["--model", "\($0)"] }
    let settings = try Settings(commandLine: CommandLineSource(flags))
    #expect(settings.configuration.models == expected)
    let variable = expected.map(\.description).joined(separator: ", ")
    #expect(
      try Settings(environment: ["SIDELIGHT_MODELS": variable]).configuration.models == expected)
    for file in [
      """
      models:
        - name: person
          task: matte
          file: /models/person.onnx
        - name: faces
          task: faces
          runtime: opencv
          file: /models/faces.onnx
      """,
      "models: [\(expected[0]), {name: faces, task: faces, runtime: opencv, file: "
        + "/models/faces.onnx}]",
      "models: [\"\(expected[0])\", \"\(expected[1])\"]",
    ] {
      try withFile(file) { path in
        let settings = try Settings(commandLine: CommandLineSource(["--config", path]))
        #expect(settings.configuration.models == expected)
        // A flag replaces the list of a file.
        let flag = try Settings(
          commandLine: CommandLineSource(["--config", path, "--model", Self.person]))
        #expect(flag.configuration.models == [expected[0]])
      }
    }
  }

  @Test func `printed models are read again`() throws {
    let arguments = [
      "--model", "a=matte:/with space, comma.onnx", "--model=b=faces@onnxruntime:/b.onnx",
      "--onnx-runtime", "/usr/lib/libonnxruntime.so",
    ]
    let settings = try Settings(commandLine: CommandLineSource(arguments))
    try withFile(settings.yaml) { path in
      let again = try Settings(commandLine: CommandLineSource(["--config", path]))
      #expect(again.configuration.models == settings.configuration.models)
      #expect(again.configuration.onnxRuntime == "/usr/lib/libonnxruntime.so")
    }
  }

  @Test(arguments: [
    ("person", "is person; expected NAME=TASK:FILE or NAME=TASK@RUNTIME:FILE"),
    (
      "person=/models/person.onnx",
      "is \"person=/models/person.onnx\"; expected NAME=TASK:FILE or NAME=TASK@RUNTIME:FILE"
    ),
    (
      "person=mate:x",
      "is \"person=mate:x\"; the task is \"mate\"; expected matte, faces or landmarks; did you "
        + "mean matte?"
    ),
    (
      "person=matte@onnx:x",
      "is \"person=matte@onnx:x\"; the runtime is \"onnx\"; expected auto, opencv or onnxruntime; "
        + "did you mean onnxruntime?"
    ),
    ("person=matte:", "is \"person=matte:\"; the file has 0 bytes; the range is 1 to 4096"),
    (
      "a person=matte:x",
      "is \"a person=matte:x\"; the name must be 1 to 64 letters, digits, -, _ or ."
    ),
    ("=matte:x", "is \"=matte:x\"; the name must be 1 to 64 letters, digits, -, _ or ."),
    (
      "plate=matte:x",
      "is \"plate=matte:x\"; the name plate is reserved for the matte without a model"
    ),
  ])
  func `an invalid model is reported with its value and the expectation`(
    text: String, message: String
  ) {
    #expect(errorMessages(["--model", text]) == ["--model \(message)"])
    #expect(
      errorMessages(environment: ["SIDELIGHT_MODELS": text]) == ["SIDELIGHT_MODELS \(message)"])
  }

  @Test(arguments: [
    ("models: [{name: a, task: matte}]", ":1: models[0]: file is missing"),
    ("models:\n- name: a\n  task: matte\n  file:\n", ":4: models[0].file has no value"),
    ("models:\n- {name: a, task: matte, file: [x]}\n", ":2: models[0].file is not a scalar"),
    (
      "models:\n- a=matte:x\n- name: b\n  tsk: matte\n  file: x\n",
      ":4: \"models[1].tsk\" is unknown; did you mean task?"
    ),
    (
      "models: [{name: a, task: mate, file: x}]",
      ":1: models[0]: the task is \"mate\"; expected matte, faces or landmarks; did you mean "
        + "matte?"
    ),
    (
      "models: [{name: a=b, task: matte, file: x}]",
      ":1: models[0]: the name must be 1 to 64 letters, digits, -, _ or ."
    ),
    ("models: [[a]]", ":1: models[0] is a list; expected name, task, file, runtime"),
    ("models: {name: a}", ":1: models is a section; expected a value"),
    ("onnx-runtime: [a]", ":1: onnx-runtime is a list; expected one value"),
  ])
  func `an error in a file names the model and its line`(text: String, message: String) throws {
    try withFile(text) { path in #expect(errorMessages(["--config", path]) == [path + message]) }
  }

  @Test func `names are unique, and tasks have limits`() {
    #expect(
      errorMessages(["--model", "a=matte:x", "--model", "a=faces:y"])
        == ["--model has two models a"])
    #expect(
      errorMessages(["a", "b", "c"].flatMap { ["--model", "\($0)=faces:x"] })
        == ["--model has 3 models for faces; the limit is 2"])
    #expect(
      errorMessages(["a", "b"].flatMap { ["--model", "\($0)=landmarks:x"] })
        == ["--model has 2 models for landmarks; the limit is 1"])
    #expect(errorMessages((0 ..< 9).flatMap { ["--model", "m\($0)=matte:x"] }) == [])
  }

  @Test func `a model for ONNX Runtime requires its library`() {
    let model = ["--model", "a=matte@onnxruntime:x"]
    #expect(errorMessages(model) == ["--model requires --onnx-runtime"])
    #expect(errorMessages(model + ["--onnx-runtime", "/lib.so"]) == [])
    #expect(
      errorMessages(environment: ["SIDELIGHT_MODELS": "a=matte@onnxruntime:x"])
        == ["SIDELIGHT_MODELS requires SIDELIGHT_ONNX_RUNTIME"])
    #expect(errorMessages(["--onnx-runtime", "/lib.so"]) == [])
  }

  @Test func `changed models require a restart`() throws {
    let settings = try Settings(commandLine: CommandLineSource(["--model", Self.person]))
    let reload = Settings.defaults.reloading(settings)
    #expect(reload.awaitingRestart.map(\.key) == ["models"])
    #expect(reload.applied.isEmpty && reload.settings.configuration.models.isEmpty)
  }
}
