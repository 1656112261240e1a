using UnityEditor;
using UnityEditor.Callbacks;
using UnityEditor.iOS.Xcode;

/// Adds the package to the Xcode project that Unity generates. Place it in a folder `Editor`.
public static class LatchkeyBuild
{
    [PostProcessBuild]
    public static void AddPackage(BuildTarget target, string folder)
    {
        if (target != BuildTarget.iOS) return;
        var path = PBXProject.GetPBXProjectPath(folder);
        var project = new PBXProject();
        project.ReadFromFile(path);
        var package = project.AddRemotePackageReferenceAtVersionUpToNextMinor("the URL of your copy", "0.1.0");
        project.AddRemotePackageFrameworkToProject(project.GetUnityFrameworkTargetGuid(), "LatchkeyBridge", package, false);
        project.WriteToFile(path);
    }
}
