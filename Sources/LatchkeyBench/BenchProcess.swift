import LatchkeyTerminal

/// The process of `latchkey-bench`.
@main
struct BenchProcess {
    static func main() async { await Program.run(BenchVerb()) }
}
