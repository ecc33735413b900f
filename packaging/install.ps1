# Installs storefront on Windows: downloads the archive for this system, verifies its SHA-256, and copies the program.
#
#   irm https://github.com/OWNER/REPOSITORY/releases/latest/download/install.ps1 | iex
#
#   $env:STOREFRONT_VERSION        version to install; the latest by default
#   $env:STOREFRONT_INSTALL_DIR    directory of the program; %LOCALAPPDATA%\Programs\storefront by default
#   $env:STOREFRONT_RELEASES       address of the releases, for a copy of them in your own network

# In a block, so that half of a script does nothing and the session that runs it keeps its own settings.
& {
    Set-StrictMode -Version 2
    $ErrorActionPreference = 'Stop'
    # The progress bar of Windows PowerShell makes a download many times slower.
    $ProgressPreference = 'SilentlyContinue'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    function Save-File($Address, $File) {
        try {
            Invoke-WebRequest -UseBasicParsing -Uri $Address -OutFile $File
        } catch {
            throw "cannot download ``$Address``: $($_.Exception.Message); nothing was installed"
        }
    }

    $releases = $env:STOREFRONT_RELEASES
    if (-not $releases) { $releases = 'https://github.com/OWNER/REPOSITORY/releases' }
    $directory = $env:STOREFRONT_INSTALL_DIR
    if (-not $directory) { $directory = Join-Path (Join-Path $env:LOCALAPPDATA 'Programs') 'storefront' }
    $version = $env:STOREFRONT_VERSION

    # A PowerShell of 32 bits says so in PROCESSOR_ARCHITECTURE, and names the system in the other variable.
    $processor = $env:PROCESSOR_ARCHITEW6432
    if (-not $processor) { $processor = $env:PROCESSOR_ARCHITECTURE }
    switch ($processor) {
        'AMD64' { $target = 'x86_64-pc-windows-msvc' }
        'ARM64' { $target = 'aarch64-pc-windows-msvc' }
        default { throw "there is no program for Windows on ``$processor``; build one with ``cargo install``" }
    }

    $work = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        $sums = Join-Path $work 'SHA256SUMS'
        if ($version) {
            Save-File "$releases/download/v$version/SHA256SUMS" $sums
        } else {
            Save-File "$releases/latest/download/SHA256SUMS" $sums
        }
        $pattern = '^([0-9a-f]{64}) [ *](storefront-([0-9]+\.[0-9]+\.[0-9]+)-' + $target + ')\.zip$'
        $lines = @(Select-String -LiteralPath $sums -CaseSensitive -Pattern $pattern)
        if ($lines.Count -ne 1) {
            throw "SHA256SUMS does not name an archive for $target; nothing was installed"
        }
        $groups = $lines[0].Matches[0].Groups
        $expected = $groups[1].Value
        $top = $groups[2].Value
        $found = $groups[3].Value
        if ($version -and $version -ne $found) {
            throw "SHA256SUMS of version $version names version $found; nothing was installed"
        }

        # By its version: the latest release can become another one between two downloads.
        $archive = Join-Path $work "$top.zip"
        Save-File "$releases/download/v$found/$top.zip" $archive
        $actual = (Get-FileHash -LiteralPath $archive -Algorithm SHA256).Hash.ToLowerInvariant()
        if ($actual -ne $expected) {
            throw "``$top.zip`` is not the file of the release: expected SHA-256 $expected, found $actual; nothing was installed"
        }

        Expand-Archive -LiteralPath $archive -DestinationPath $work
        New-Item -Force -ItemType Directory -Path $directory | Out-Null
        $program = Join-Path $directory 'storefront.exe'
        Copy-Item -Force -LiteralPath (Join-Path (Join-Path $work $top) 'storefront.exe') -Destination $program
    } finally {
        Remove-Item -Recurse -Force -LiteralPath $work
    }

    "installed storefront ${found}: $program"
    if (($env:PATH -split [IO.Path]::PathSeparator) -notcontains $directory) {
        "add $directory to Path, in `"Edit environment variables for your account`""
    }
}
