import LatchkeyTerminal

/// The process of `latchkey-demo`.
@main
struct DemoProcess {
    static func main() async { await Program.run(PlayersVerb()) }
}
