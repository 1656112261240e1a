import LatchkeyTerminal

/// The process: its arguments in, its exit status out. Everything else is `CommandLineTool`, which tests run too.
@main
struct LatchkeyProcess {
    static func main() async { await Program.run { await CommandLineTool.standard.run($0, $1) } }
}
