import LatchkeyCore

/// Tags of live playlists: delta updates, hints and interstitials.
extension PlaylistReader {
    /// HLS.md rule 9: the keys of skipped segments, and the key in force after them, come from the previous copy.
    mutating func readSkip(_ attributes: AttributeList) throws(PlaylistError) {
        let count = try attributes.text("SKIPPED-SEGMENTS", &variables).flatMap { Int($0) } ?? 0
        // Bounded, because other numbers are added to it. No real playlist skips more.
        skippedSegments = min(max(0, count), 1 << 40)
        guard let copy = context.earlierCopy, let runs = copy.runs(from: mediaSequence, count: count), keyTags.isEmpty
        else {
            let text = "a delta update; the keys of skipped segments are in the copy before"
            return warnings.add(text, line: attributes.line)
        }
        try inherit(runs, of: copy, attributes.line)
    }

    private mutating func inherit(
        _ runs: [SegmentRun], of copy: EarlierCopy, _ line: Int
    ) throws(PlaylistError) {
        var indexes: [Int: Int] = [:]
        var inherited: [SegmentRun] = []
        for run in runs {
            var keys: [Int] = []
            for old in run.keys where copy.keyTags.indices.contains(old) {
                let index: Int
                if let known = indexes[old] { index = known } else { index = try inherit(copy.keyTags[old], line) }
                indexes[old] = index
                keys.append(index)
            }
            inherited.append(SegmentRun(first: run.first, count: run.count, keys: keys))
        }
        self.inherited = InheritedKeys(tagCount: keyTags.count, runs: inherited)
        try inForce.inherit(self.inherited, from: keyTags, limits: limits)
    }

    /// - Returns: the index of the tag.
    private mutating func inherit(_ tag: KeyTag, _ line: Int) throws(PlaylistError) -> Int {
        guard keyTags.count + sessionKeyTags.count < limits.keyTags else {
            throw .limit("key tags", limits.keyTags, line: line)
        }
        var tag = tag
        tag.line = line
        keyTags.append(tag)
        return keyTags.count - 1
    }

    /// HLS.md rule 22. Ignores a hint that is malformed, and all but the first one of a key.
    mutating func readHint(_ body: Bytes, _ line: Int) throws(PlaylistError) {
        guard hintedKey == nil, let attributes = try? AttributeList(body, line: line, limit: limits.attributesPerTag)
        else { return }
        hintedKey = try KeyHint(attributes, &variables, &warnings)
    }

    /// Ignores a date range that is not an interstitial or is malformed.
    mutating func readInterstitial(_ body: Bytes, _ line: Int) throws(PlaylistError) {
        guard body.text.contains(Interstitial.dateRangeClass),
            let attributes = try? AttributeList(body, line: line, limit: limits.attributesPerTag),
            try attributes.text("CLASS", &variables) == Interstitial.dateRangeClass
        else { return }
        let asset = try attributes.text("X-ASSET-URI", &variables)
        let list = try attributes.text("X-ASSET-LIST", &variables)
        // A later tag with the same ID may only state the end of the first one.
        guard asset != nil || list != nil else { return }
        let id = try attributes.text("ID", &variables)
        guard interstitials.count < limits.streams else { throw .limit("interstitials", limits.streams, line: line) }
        interstitials.append(
            Interstitial(
                id: id,
                assetURI: asset.map { URIReference.resolve($0, against: context.uri) },
                assetListURI: list.map { URIReference.resolve($0, against: context.uri) }, line: line))
    }
}
