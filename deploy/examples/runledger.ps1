<#
Reports a robot to Runledger: START, then END, or ERROR and END. For Windows PowerShell 5.1 and
PowerShell 7.

  $env:RUNLEDGER_URL = 'https://runledger.example.com'
  $env:RUNLEDGER_TOKEN = Get-Content C:\robots\runledger-token
  . .\runledger.ps1
  Invoke-Reported '0b0e8a3c-6f5e-4c6b-9f0e-3f8b9a9d1c11' {
      & .\Invoices.exe
      if ($LASTEXITCODE) { throw "Invoices.exe ended with $LASTEXITCODE" }
  }
#>

# Windows PowerShell may begin with older versions of TLS.
[Net.ServicePointManager]::SecurityProtocol =
    [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

function Send-RunledgerEvent {
    param(
        [Parameter(Mandatory)] [string] $Automation,
        [Parameter(Mandatory)] [string] $Execution,
        [Parameter(Mandatory)]
        [ValidateSet('START', 'EVENT', 'WARNING', 'ERROR', 'END')] [string] $Kind,
        [string] $Description = '',
        [string] $ErrorId = '',
        [string] $ErrorDescription = ''
    )
    $body = ConvertTo-Json @{
        automation_id = $Automation
        execution_id = $Execution
        event = $Kind
        occurred_at = [DateTime]::UtcNow.ToString('o')
        description = $Description
        error_id = $ErrorId
        error_description = $ErrorDescription
    }
    $request = @{
        Method = 'Post'
        Uri = "$env:RUNLEDGER_URL/v1/register/"
        ContentType = 'application/json; charset=utf-8'
        # Windows PowerShell sends a text in Latin-1, and bytes as they are.
        Body = [Text.Encoding]::UTF8.GetBytes($body)
        # The same key at each attempt: the event is recorded once.
        Headers = @{ token = $env:RUNLEDGER_TOKEN; 'Idempotency-Key' = [guid]::NewGuid().ToString() }
        TimeoutSec = 10
    }
    foreach ($pause in 1, 2, 4, 8, 0) {
        try {
            $null = Invoke-RestMethod @request
            return
        } catch {
            # 0 without an answer.
            $status = [int] $_.Exception.Response.StatusCode
            $passes = $status -in 0, 408, 409, 429 -or $status -ge 500
            if (-not $passes -or $pause -eq 0) {
                Write-Warning "Not reported: $Kind. $($_.Exception.Message)"
                return
            }
            Start-Sleep -Seconds $pause
        }
    }
}

function Invoke-Reported {
    param(
        [Parameter(Mandatory)] [string] $Automation,
        [Parameter(Mandatory)] [scriptblock] $Work
    )
    $run = @{ Automation = $Automation; Execution = [guid]::NewGuid().ToString() }
    Send-RunledgerEvent @run -Kind START
    try {
        & $Work
    } catch {
        $texts = @{ ErrorId = $_.Exception.GetType().Name; ErrorDescription = Out-String -InputObject $_ }
        Send-RunledgerEvent @run -Kind ERROR @texts
        throw
    } finally {
        Send-RunledgerEvent @run -Kind END
    }
}
