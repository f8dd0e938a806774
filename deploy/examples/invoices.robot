*** Settings ***
Documentation       A robot that reports its runs: robot --rpa invoices.robot
Resource            runledger.resource
Suite Setup         Start Run
Suite Teardown      Finish Run
Task Teardown       Note Failure


*** Tasks ***
Download Invoices
    Log    Downloading

Book Invoices
    Log    Booking
    Report Event    WARNING    description=An invoice has no number.
    Should Be Equal    %{BALANCE=0}    0    The books do not balance: %{BALANCE=0}    values=False
