import CLibFuzzer

/// A fuzz target: a function that libFuzzer calls with inputs, and that stops the process if an input reveals a fault.
public typealias FuzzTest = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

/// Runs libFuzzer with the options of the command line.
public func fuzz(_ test: FuzzTest) {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    _ = LLVMFuzzerRunDriver(&count, &arguments, test)
}

extension String {
    /// Returns an input as text. Invalid UTF-8 is replaced with U+FFFD.
    public init(input: UnsafePointer<UInt8>?, _ count: Int) {
        self.init(decoding: UnsafeBufferPointer(start: input, count: count), as: UTF8.self)
    }
}
