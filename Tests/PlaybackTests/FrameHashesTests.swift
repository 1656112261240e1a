import Testing

@testable import LatchkeyPlayback

@Suite struct FrameHashesTests {
    @Test func `hashes are field six, sorted into their streams`() {
        let streams = FrameHashes.read(
            """
            #format: frame checksums
            #extradata 0,                              40, e7fcff762633ccc504f5fe20a513c282
            #media_type 0: video
            #codec_id 0: h264
            #media_type 1: audio
            #codec_id 1: aac
            #stream#, dts,        pts, duration,     size, hash
            0,      -7200,          0,     3600,     2574, 08c94bf6a5f2340cfe409a1ba9bb724e, S=1, 1, ec2d11028766e06a
            1,          0,          0,     1024,        5, 47a1d43c66bdeafce4e25886169d03e6
            0,      -3600,      18000,     3600,      679, 3240d4282e8c0da886d2617aef749784
            """)
        #expect(
            streams == [
                FrameHashes(
                    media: .video, codec: "h264",
                    hashes: ["08c94bf6a5f2340cfe409a1ba9bb724e", "3240d4282e8c0da886d2617aef749784"]),
                FrameHashes(media: .audio, codec: "aac", hashes: ["47a1d43c66bdeafce4e25886169d03e6"]),
            ])
    }

    @Test(arguments: ["", "#media_type", "#media_type x: video", "#media_type 0: data", "0,1,2\n,,,,,\nx,1,1,1,1,1"])
    func `lines of another form give nothing`(text: String) {
        #expect(FrameHashes.read(text) == [])
    }
}
